/*
 * Capabilities that camp's file gives (setcap): to whom, and when they are effective.
 *
 * A file gives them to everybody who may execute it, and camp is of use to everybody. So who is
 * not in the group "camp" puts them away before anything else is done; where there is no such
 * group, the administrator has given them to all. What was held before, as root or as a service
 * does (ambient capabilities), is kept.
 *
 * The file gives them as permitted only (=p, not =ep): the kernel refuses to execute a file whose
 * capabilities are to be effective at once where the bounding set lacks one of them, and a
 * service's does (capabilities(7), "Safety checking for capability-dumb binaries").
 */
#ifndef CAMP_PROGRAM_PRIVILEGE_H
#define CAMP_PROGRAM_PRIVILEGE_H

#include <stdbool.h>

#define PRIVILEGE_GROUP "camp"

void privilege_settle(void);

bool privilege_group_exists(void);

#define PRIVILEGE_LINE_SIZE (4 * 4096 + 64) /* a path of PATH_MAX that is all quotes */

/* The command that gives the capabilities to the file of this program, ready for a shell. */
void privilege_line(char ret[PRIVILEGE_LINE_SIZE]);

#endif
