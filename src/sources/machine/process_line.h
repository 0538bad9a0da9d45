/* The command line of a process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_LINE_SIZE 4096 /* longer lines are cut */

/* The arguments of a process with blanks between them. `name` if there are none (not `has_line`: a
 * kernel thread, an ended process) or if the process is gone. */
void process_line(int32_t pid, bool has_line, const char *name, char ret[PROCESS_LINE_SIZE]);
