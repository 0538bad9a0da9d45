/* Paths of cgroups (version 2) by id. The id of a cgroup is the inode of its directory. So when an
 * id is unknown, all directories of the cgroup file system are read, at most once per interval. */
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

/* Returns the path of a cgroup of the last resolved frame. The text is valid until the next
 * cgroup_paths_resolve(). */
const char *cgroup_paths_name(const struct cgroup_paths *paths, uint64_t id);

/* Finds the mount point of cgroup2 in a file like /proc/self/mounts (fstab(5)). The caller frees
 * the result, which is NULL if there is no mount point or no memory. */
char *cgroup_mount_of(FILE *mounts);
