/*
 * Capabilities that camp's file grants (setcap): to which users, and when they are effective.
 *
 * A file grants them to every user who may execute it, and camp is useful to every user. So a user
 * outside the group "camp" drops them before anything else is done; without such a group, the
 * administrator has granted them to all. Capabilities held before, by root or a service (ambient
 * capabilities), are kept.
 *
 * The file grants them as permitted only (=p, not =ep): the kernel refuses to execute a file with
 * immediately effective capabilities where the bounding set lacks one of them, as a service's does
 * (capabilities(7), "Safety checking for capability-dumb binaries").
 */
#pragma once

#include <stdbool.h>

#define PRIVILEGE_GROUP "camp"

void privilege_drop(void);

bool privilege_group_exists(void);

#define PRIVILEGE_LINE_SIZE (4 * 4096 + 64) /* a path of PATH_MAX quotes */

/* The shell command that grants the capabilities to the file of this program. */
void privilege_line(char ret[PRIVILEGE_LINE_SIZE]);
