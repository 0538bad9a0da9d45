#include "thread_cgroups.h"

#include "cpu_quota.h"

#include <camp/states.h>

#include <dirent.h>
#include <mntent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a directory has another one in it. */
static bool has_folder(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool found = false;

    while (directory != NULL && !found && (entry = readdir(directory)) != NULL)
        found = entry->d_type == DT_DIR && entry->d_name[0] != '.';
    if (directory != NULL)
        closedir(directory);
    return found;
}

bool thread_cgroups_choose(FILE *mounts, char **ret_mount)
{
    struct cpu_hierarchy cpus;
    char *second;
    bool is_first;

    cpu_hierarchy_find(mounts, &cpus);
    rewind(mounts);
    second = cgroup_mount_of(mounts);
    is_first = cpus.is_v1 && cpus.mount != NULL &&
               (second == NULL || has_folder(cpus.mount) || !has_folder(second));
    *ret_mount = is_first ? cpus.mount : second;
    free(is_first ? second : cpus.mount);
    return is_first;
}

/* Sets *ret_mount as thread_cgroups_choose() does, for the mounts of this process. */
static bool choose(char **ret_mount)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    bool is_v1 = false;

    *ret_mount = NULL;
    if (mounts == NULL)
        return false;
    is_v1 = thread_cgroups_choose(mounts, ret_mount);
    endmntent(mounts);
    return is_v1;
}

enum { UNDECIDED, SECOND, FIRST };
static atomic_int version;

static int decide(void)
{
    int before = UNDECIDED;
    char *mount;

    if (atomic_load(&version) == UNDECIDED) {
        atomic_compare_exchange_strong(&version, &before, choose(&mount) ? FIRST : SECOND);
        free(mount);
    }
    return atomic_load(&version);
}

uint32_t thread_cgroups_option(void)
{
    return decide() == FIRST ? CAMP_STATES_CPU_CGROUPS : 0;
}

bool thread_cgroups_open(struct cgroup_paths *ret)
{
    struct cpu_hierarchy cpus = { 0 };
    FILE *mounts;

    if (decide() == SECOND)
        return cgroup_paths_open(ret);
    *ret = (struct cgroup_paths){ 0 };
    mounts = setmntent("/proc/self/mounts", "re");
    if (mounts != NULL) {
        cpu_hierarchy_find(mounts, &cpus);
        endmntent(mounts);
    }
    ret->mount = cpus.mount; /* which the paths own from now on */
    return ret->mount != NULL;
}
