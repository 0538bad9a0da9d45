#include "cgroup_folder.h"

#include "counters/error.h"
#include "cpu_quota.h"
#include "sources/machine/cgroup_paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hierarchies {
    struct cgroup_paths second; /* version 2: only its mount is used */
    struct cpu_hierarchy cpus;
};

static int open_hierarchies(struct hierarchies *ret, struct camp_error *error)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");

    *ret = (struct hierarchies){ 0 };
    if (mounts != NULL) {
        cpu_hierarchy_find(mounts, &ret->cpus);
        endmntent(mounts);
    }
    if (cgroup_paths_open(&ret->second) || ret->cpus.mount != NULL)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "no cgroups here: no cgroup file system is mounted");
}

static void close_hierarchies(struct hierarchies *hierarchies)
{
    cgroup_paths_release(&hierarchies->second);
    cpu_hierarchy_release(&hierarchies->cpus);
}

/* Returns whether a path is the directory of a mount or below it. */
static bool is_below(const char *path, const char *mount)
{
    const size_t length = strlen(mount);

    return strncmp(path, mount, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Reads the inode number of a directory that is on the file system of `mount`: a path with ".." may
 * lead to another one. Returns 0, or an error of stat(2). */
static int read_id(const char *folder, const char *mount, uint64_t *ret)
{
    struct stat top, status;

    if (stat(mount, &top) != 0 || stat(folder, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode) || status.st_dev != top.st_dev)
        return ENOENT;
    *ret = status.st_ino;
    return 0;
}

static int find_in(const char *mount, const char *path, bool is_v1, struct cgroup_folder *ret,
                   struct camp_error *error)
{
    struct cgroup_folder found = { .is_v1 = is_v1 };
    char folder[PATH_MAX];
    size_t length;
    int failed;

    if (is_below(path, mount))
        path += strlen(mount);
    if (snprintf(folder, sizeof folder, "%s%s", mount, path) >= (int)sizeof folder)
        return CAMP_E_GONE;
    for (length = strlen(folder); length > 1 && folder[length - 1] == '/'; length--)
        folder[length - 1] = '\0';
    failed = read_id(folder, mount, &found.id);
    if (failed == ENOENT || failed == ENOTDIR)
        return CAMP_E_GONE;
    if (failed != 0)
        return camp_fail_errno(error, failed, folder);
    found.path = strdup(folder);
    found.mount = strdup(mount);
    if (found.path == NULL || found.mount == NULL) {
        cgroup_folder_release(&found);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the path of a cgroup");
    }
    *ret = found;
    return CAMP_OK;
}

/* Looks in one version. Does not report a missing cgroup. */
static int find_in_version(const struct hierarchies *hierarchies, const char *path, bool is_v1,
                           struct cgroup_folder *ret, struct camp_error *error)
{
    const char *mount = !is_v1                    ? hierarchies->second.mount
                        : hierarchies->cpus.is_v1 ? hierarchies->cpus.mount
                                                  : NULL;

    return mount != NULL ? find_in(mount, path, is_v1, ret, error) : CAMP_E_GONE;
}

int cgroup_folder_find(const char *path, struct cgroup_folder *ret, struct camp_error *error)
{
    struct hierarchies hierarchies;
    int r = open_hierarchies(&hierarchies, error);

    if (r == CAMP_OK) {
        r = find_in_version(&hierarchies, path, false, ret, error);
        if (r == CAMP_E_GONE)
            r = find_in_version(&hierarchies, path, true, ret, error);
        if (r == CAMP_E_GONE)
            camp_fail(error, r, 0, "there is no cgroup '%s' in %s", path,
                      hierarchies.second.mount != NULL ? hierarchies.second.mount
                                                       : hierarchies.cpus.mount);
    }
    close_hierarchies(&hierarchies);
    return r;
}

int cgroup_folder_find_root(struct cgroup_folder *ret, struct camp_error *error)
{
    struct hierarchies hierarchies;
    int r = open_hierarchies(&hierarchies, error);

    if (r == CAMP_OK)
        r = hierarchies.cpus.mount != NULL
                ? find_in(hierarchies.cpus.mount, "", hierarchies.cpus.is_v1, ret, error)
                : find_in(hierarchies.second.mount, "", false, ret, error);
    close_hierarchies(&hierarchies);
    return r;
}

/* Calls containers_find() for processes until one is in a place with this name. Returns its place,
 * or NULL. */
static const struct container_place *find_place(struct containers *containers,
                                                enum container_label label, const char *name)
{
    DIR *directory = opendir("/proc");
    const struct container_place *ret = NULL;
    const struct dirent *entry;

    while (directory != NULL && ret == NULL && (entry = readdir(directory)) != NULL) {
        const struct container_task task = { .pid = (int32_t)strtol(entry->d_name, NULL, 10) };
        const struct container_place *place;

        if (task.pid < 1)
            continue;
        place = containers_find(containers, &task);
        if (place != NULL && strcmp(container_place_text(place, label), name) == 0)
            ret = place;
    }
    if (directory != NULL)
        closedir(directory);
    return ret;
}

static int find_label(const struct hierarchies *hierarchies, struct containers *containers,
                      enum container_label label, const char *name, struct cgroup_folder *ret,
                      struct camp_error *error)
{
    const struct container_place *place = find_place(containers, label, name);
    char path[PATH_MAX], cpu_path[PATH_MAX];
    int r = CAMP_E_GONE;

    if (place != NULL && container_place_path(place, label, path, cpu_path, sizeof path)) {
        r = find_in_version(hierarchies, path, false, ret, error);
        if (r == CAMP_E_GONE)
            r = find_in_version(hierarchies, cpu_path, true, ret, error);
    }
    if (r == CAMP_E_GONE)
        camp_fail(error, r, 0, "no process is in the %s '%s': camp top --group %s lists them",
                  container_label_names[label], name, container_label_names[label]);
    return r;
}

int cgroup_folder_find_label(enum container_label label, const char *name,
                             struct cgroup_folder *ret, struct camp_error *error)
{
    struct containers *containers = NULL;
    struct hierarchies hierarchies;
    int r = open_hierarchies(&hierarchies, error);

    if (r == CAMP_OK)
        r = containers_open(&containers, error);
    if (r == CAMP_OK)
        r = find_label(&hierarchies, containers, label, name, ret, error);
    containers_close(containers);
    close_hierarchies(&hierarchies);
    return r;
}

void cgroup_folder_release(struct cgroup_folder *folder)
{
    free(folder->path);
    free(folder->mount);
    *folder = (struct cgroup_folder){ 0 };
}
