/*
 * Handles capabilities that the file of camp grants (setcap(8)): which users may use them, and when
 * they become effective.
 *
 * Such a file grants its capabilities to every user who may execute it, and every user should be
 * able to run camp. So camp drops the capabilities at its start, unless the user is in the group
 * "camp". If there is no such group, all users keep the capabilities. Capabilities that the process
 * had before, from root or from a service (ambient capabilities), are also kept.
 *
 * The file grants capabilities only as permitted (=p, not =ep). The kernel refuses to execute a
 * file with effective capabilities if the bounding set lacks one of them. A service often has such
 * a bounding set (capabilities(7), "Safety checking for capability-dumb binaries").
 */
#pragma once

#include <stdbool.h>

#define PRIVILEGE_GROUP "camp"

void privilege_drop(void);

bool privilege_group_exists(void);

/* The longest path consists of PATH_MAX quotes, and each quote is written as four characters. */
#define PRIVILEGE_LINE_SIZE (4 * 4096 + 64)

/* Writes the shell command that grants the capabilities to the file of this program. */
void privilege_line(char ret[PRIVILEGE_LINE_SIZE]);
