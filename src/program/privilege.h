/*
 * Handles capabilities that the file of camp grants (setcap(8)): which users may use them, and when
 * they become effective.
 *
 * Such a file grants its capabilities to every user who may execute it, and every user should be
 * able to run camp. So camp drops the capabilities at its start, unless the user is in the group
 * "camp". If there is no such group, no user keeps them. Capabilities that the process had before,
 * from root or from a service (ambient capabilities), are kept.
 *
 * A command that reads foreign files or answers foreign requests gives up, for good, the
 * capabilities that open microstates and taskstats, also those of root. A confined one gives up
 * more (sandbox.h).
 *
 * The file grants capabilities only as permitted (=p, not =ep). The kernel refuses to execute a
 * file with effective capabilities if the bounding set lacks one of them. A service often has such
 * a bounding set (capabilities(7), "Safety checking for capability-dumb binaries").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PRIVILEGE_GROUP "camp"

void privilege_drop(void);

/* Enables the right to open processes of other users, if this user has it: SeDebugPrivilege of
 * Windows. On Linux privilege_drop() has left what there is. */
void privilege_open_processes(void);

/* What an open source still does that needs a capability. */
enum privilege_use {
    PRIVILEGE_NOTHING,
    PRIVILEGE_MAPS,     /* reads maps of BPF: needs CAP_BPF on some kernels before 5.19 */
    PRIVILEGE_TASKSTATS /* asks for taskstats: needs CAP_NET_ADMIN */
};

/* `tier` is the tier of an open source of this machine, or NULL. */
enum privilege_use privilege_use_of(const char *tier);

/* Gives up CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_PERFMON and CAP_BPF, except for what `use` needs.
 * Applies to the calling thread and to threads that it creates later. */
void privilege_give_up(enum privilege_use use);

/* Gives up all capabilities but those whose bits (1 << CAP_...) are set. */
void privilege_keep(uint64_t capabilities);

bool privilege_group_exists(void);

/* The longest path consists of PATH_MAX quotes, and each quote is written as four characters. */
#define PRIVILEGE_LINE_SIZE (4 * 4096 + 64)

/* Writes the shell command that grants the capabilities to the file of this program. */
void privilege_line(char ret[PRIVILEGE_LINE_SIZE]);
