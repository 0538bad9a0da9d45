/* Finds the path of a cgroup (version 2) by its id, which is the inode of its directory. If an id
 * is unknown, all directories of the cgroup file system are read, at most once per frame. */
#pragma once

#include "ledger/frame.h"

#include <stdio.h>

struct cgroup_path {
    uint64_t id;
    char *path; /* "/system.slice/cron.service", or "cgroup 1234" if the path is unknown */
    bool used, found;
};

struct cgroup_paths {
    char *mount;               /* NULL if cgroup_paths_open() found no mounted cgroup2 */
    struct cgroup_path *paths; /* [count] sorted by id */
    size_t count, capacity;
};

/* Returns false if no cgroup2 file system is mounted. */
bool cgroup_paths_open(struct cgroup_paths *ret);
void cgroup_paths_release(struct cgroup_paths *paths);

/* Finds the path of each cgroup in a frame. Returns CAMP_OK or CAMP_E_NOMEM. */
int cgroup_paths_resolve(struct cgroup_paths *paths, const struct frame *frame);

/* Returns the path of a cgroup in the frame that was given to cgroup_paths_resolve(). The text is
 * valid until the next cgroup_paths_resolve(). */
const char *cgroup_paths_name(const struct cgroup_paths *paths, uint64_t id);

/* Returns the mount point of cgroup2 according to a file such as /proc/self/mounts (fstab(5)), or
 * NULL if there is no mount point or no memory. The caller frees it. */
char *cgroup_mount_of(FILE *mounts);
