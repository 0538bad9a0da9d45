/*
 * Paths of cgroups (version 2) by id. An id is the inode of the cgroup's directory, so the mount is
 * walked when there is an unknown id, at most once per interval.
 */
#pragma once

#include "ledger/frame.h"

#include <stdio.h>

struct cgroup_path {
    uint64_t id;
    char *path; /* "/system.slice/cron.service"; "cgroup 1234" if unknown */
    bool used, found;
};

struct cgroup_paths {
    char *mount;               /* NULL: cgroup_paths_open() found none */
    struct cgroup_path *paths; /* [count], ascending */
    size_t count, capacity;
};

/* False: no cgroup2 file system is mounted. */
bool cgroup_paths_open(struct cgroup_paths *ret);
void cgroup_paths_release(struct cgroup_paths *paths);

/* Resolves the name of each cgroup in a frame. CAMP_OK or CAMP_E_NOMEM. */
int cgroup_paths_resolve(struct cgroup_paths *paths, const struct frame *frame);

/* The name of a cgroup of the last resolved frame; valid until the next cgroup_paths_resolve(). */
const char *cgroup_paths_name(const struct cgroup_paths *paths, uint64_t id);

/* Finds the mount point of cgroup2 in a file like /proc/self/mounts (fstab(5)); the caller frees
 * it. NULL: none, or out of memory. */
char *cgroup_mount_of(FILE *mounts);
