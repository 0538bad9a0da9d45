/*
 * Finds the directory of a cgroup by its path, or by the name of a container, a pod or a unit: in
 * version 2, or on a host that has no such directory there, in the hierarchy of version 1 with the
 * CPU controller.
 */
#pragma once

#include "containers.h"

struct cgroup_folder {
    char *path;  /* in the file system; NULL if the struct is empty */
    char *mount; /* where its hierarchy is mounted */
    uint64_t id; /* inode number of the directory */
    bool is_v1;
};

/* Finds a cgroup by its path in its hierarchy, such as "/system.slice/cron.service", or by that of
 * its directory. Returns CAMP_E_GONE (there is none), CAMP_E_NOTSUP (no cgroups are mounted),
 * CAMP_E_PERM, CAMP_E_IO or CAMP_E_NOMEM. */
int cgroup_folder_find(const char *path, struct cgroup_folder *ret, struct camp_error *error);

/* Finds the cgroup of the container, the pod or the unit with this name (LABEL_CONTAINER, LABEL_POD
 * or LABEL_UNIT), by the processes in it. Reads the files of container runtimes. Returns
 * CAMP_E_GONE if no process is in one, and the errors of cgroup_folder_find(). */
int cgroup_folder_find_label(enum container_label label, const char *name,
                             struct cgroup_folder *ret, struct camp_error *error);

/* Finds the root of the hierarchy that has the CPU controller. */
int cgroup_folder_find_root(struct cgroup_folder *ret, struct camp_error *error);

void cgroup_folder_release(struct cgroup_folder *folder);
