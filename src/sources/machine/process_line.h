#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_LINE_SIZE 4096

/* Writes the arguments of a process to `ret`, separated by blanks, or `name` if there are none.
 * `has_line` is false for a process that is known to have none: a kernel thread, or a process that
 * has ended. */
void process_line(int32_t pid, bool has_line, const char *name, char ret[PROCESS_LINE_SIZE]);
