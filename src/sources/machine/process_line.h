/* The command line of a process. */
#ifndef CAMP_SOURCES_MACHINE_PROCESS_LINE_H
#define CAMP_SOURCES_MACHINE_PROCESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESS_LINE_SIZE 4096 /* what is behind is not looked at */

/* Its arguments with blanks between them. Who has none (not `has_line`: a kernel thread, one that
 * ended; or it is gone by now) has `name` instead. */
void process_line(int32_t pid, bool has_line, const char *name, char ret[PROCESS_LINE_SIZE]);

#endif
