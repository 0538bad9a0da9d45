/*
 * Which cgroups are those of threads, on a host that may have several hierarchies.
 *
 * They are those of version 2. On a host that has the CPU controller in version 1 (cgroups(7)),
 * they are those of this controller, which has the quotas and the time that it throttles; but if it
 * has no cgroup below its root, and version 2 has one, they are those of version 2. The first call
 * of a function decides that for the process, so that ids and paths are of one hierarchy.
 */
#pragma once

#include "sources/machine/cgroup_paths.h"

/* Returns CAMP_STATES_CPU_CGROUPS for camp_states_open() if the cgroups are those of version 1;
 * otherwise 0. */
uint32_t thread_cgroups_option(void);

/* Prepares the names of the cgroups. Returns false if no cgroup file system is mounted. */
bool thread_cgroups_open(struct cgroup_paths *ret);

/* Returns whether those of version 1 are used, according to a file such as /proc/self/mounts, and
 * sets *ret_mount to where the chosen hierarchy is mounted: NULL if there is none, or no memory.
 * The caller frees it. */
bool thread_cgroups_choose(FILE *mounts, char **ret_mount);
