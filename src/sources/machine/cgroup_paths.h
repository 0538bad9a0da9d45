/*
 * Paths of cgroups (version 2) by their ids. An id is the inode of the cgroup's directory, so the
 * mount is walked when an id is met that is not known yet, at most once an interval.
 */
#ifndef CAMP_SOURCES_MACHINE_CGROUP_PATHS_H
#define CAMP_SOURCES_MACHINE_CGROUP_PATHS_H

#include "ledger/frame.h"

struct cgroup_path {
    uint64_t id;
    char *path; /* "/system.slice/cron.service"; "cgroup 1234" when it is not there */
    bool used, found;
};

struct cgroup_paths {
    char *mount;               /* NULL: cgroup_paths_open() did not find one */
    struct cgroup_path *paths; /* [count], ascending */
    size_t count, capacity;
};

/* False: no cgroup2 file system is mounted. */
bool cgroup_paths_open(struct cgroup_paths *ret);
void cgroup_paths_release(struct cgroup_paths *paths);

/* Sees to it that each cgroup of a frame has its name. CAMP_OK or CAMP_E_NOMEM. */
int cgroup_paths_know(struct cgroup_paths *paths, const struct frame *frame);

/* The name of a cgroup of that frame: lives until the next cgroup_paths_know(). */
const char *cgroup_paths_name(const struct cgroup_paths *paths, uint64_t id);

/* The mount point, when this line of mountinfo (proc(5)) is one of cgroup2; to be freed. NULL: it
 * is not, or there is no memory. */
char *cgroup_mount_of_line(const char *line);

#endif
