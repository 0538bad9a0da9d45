/* The command line of a process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_LINE_SIZE 4096 /* longer lines are cut */

/* Writes the arguments of a process, separated by blanks. Writes `name` instead if the process has
 * none (`has_line` is false: a kernel thread, or an ended process) or is gone. */
void process_line(int32_t pid, bool has_line, const char *name, char ret[PROCESS_LINE_SIZE]);
