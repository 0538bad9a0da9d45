#include "cgroup_paths.h"

#include "ledger/array.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>

char *cgroup_mount_of(FILE *mounts)
{
    char strings[PATH_MAX + 1024];
    struct mntent entry;

    while (getmntent_r(mounts, &entry, strings, sizeof strings) != NULL) {
        if (strcmp(entry.mnt_type, "cgroup2") == 0)
            return strdup(entry.mnt_dir);
    }
    return NULL;
}

bool cgroup_paths_open(struct cgroup_paths *ret)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");

    *ret = (struct cgroup_paths){ 0 };
    if (mounts == NULL)
        return false;
    ret->mount = cgroup_mount_of(mounts);
    endmntent(mounts);
    return ret->mount != NULL;
}

void cgroup_paths_release(struct cgroup_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->paths[i].path);
    free(paths->paths);
    free(paths->mount);
    *paths = (struct cgroup_paths){ 0 };
}

static int compare_ids(const void *a, const void *b)
{
    const struct cgroup_path *left = a, *right = b;

    return left->id < right->id ? -1 : left->id > right->id;
}

static struct cgroup_path *find(const struct cgroup_paths *paths, size_t count, uint64_t id)
{
    const struct cgroup_path wanted = { .id = id };

    return ARRAY_FIND(&wanted, paths->paths, count, compare_ids);
}

static int add(struct cgroup_paths *paths, uint64_t id, const char *path)
{
    if (!ARRAY_RESERVE(paths->paths, paths->capacity, paths->count + 1))
        return CAMP_E_NOMEM;
    paths->paths[paths->count] = (struct cgroup_path){ id, strdup(path), true, true };
    return paths->paths[paths->count].path != NULL ? (paths->count++, CAMP_OK) : CAMP_E_NOMEM;
}

/* Adds a directory to the paths. If the first `sorted` paths have the directory already, only sets
 * `found` of its path. */
static int add_directory(struct cgroup_paths *paths, size_t sorted, uint64_t id, const char *path)
{
    struct cgroup_path *known = find(paths, sorted, id);

    if (known == NULL)
        return add(paths, id, path[0] != '\0' ? path : "/");
    known->found = true;
    return CAMP_OK;
}

/* Adds the directory `whole` and the directories below it. The first `mount_length` bytes of
 * `whole` are the mount point. */
static int walk(struct cgroup_paths *paths, size_t sorted, char whole[PATH_MAX],
                size_t mount_length)
{
    const size_t length = strlen(whole);
    DIR *directory = opendir(whole);
    const struct dirent *entry;
    int r = CAMP_OK;

    while (directory != NULL && r == CAMP_OK && (entry = readdir(directory)) != NULL) {
        if (entry->d_type != DT_DIR || strcmp(entry->d_name, "..") == 0)
            continue;
        if (strcmp(entry->d_name, ".") == 0) {
            r = add_directory(paths, sorted, entry->d_ino, whole + mount_length);
        } else if (length + 1 + strlen(entry->d_name) < PATH_MAX) {
            whole[length] = '/';
            strcpy(whole + length + 1, entry->d_name);
            r = walk(paths, sorted, whole, mount_length);
            whole[length] = '\0';
        }
    }
    if (directory != NULL)
        closedir(directory);
    return r;
}

/* Removes cgroups that no longer exist and are not in the frame, so that the list does not grow
 * without limit. */
static void remove_gone(struct cgroup_paths *paths)
{
    size_t kept = 0;

    for (size_t i = 0; i < paths->count; i++) {
        if (paths->paths[i].used || paths->paths[i].found)
            paths->paths[kept++] = paths->paths[i];
        else
            free(paths->paths[i].path);
    }
    paths->count = kept;
}

static int walk_all(struct cgroup_paths *paths)
{
    const size_t sorted = paths->count;
    char whole[PATH_MAX];
    int r;

    for (size_t i = 0; i < paths->count; i++)
        paths->paths[i].found = false;
    snprintf(whole, sizeof whole, "%s", paths->mount);
    r = walk(paths, sorted, whole, strlen(whole));
    remove_gone(paths);
    if (paths->count > 0)
        qsort(paths->paths, paths->count, sizeof *paths->paths, compare_ids);
    return r;
}

/* Sets `used` of each path whose cgroup is in the frame. Returns the number of rows whose cgroup
 * has no path. */
static size_t mark_used(struct cgroup_paths *paths, const struct frame *frame)
{
    size_t unknown = 0;

    for (size_t i = 0; i < paths->count; i++)
        paths->paths[i].used = false;
    for (size_t i = 0; i < frame->entity_count; i++) {
        struct cgroup_path *known = find(paths, paths->count, frame->entities[i].cgroup);

        if (known != NULL)
            known->used = true;
        unknown += known == NULL;
    }
    return unknown;
}

/* Names the cgroups in the frame whose directory was not found. Such a cgroup was removed, or is
 * outside of the mounted part of the tree. */
static int name_unknown(struct cgroup_paths *paths, const struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const uint64_t id = frame->entities[i].cgroup;
        char name[40];

        if (find(paths, paths->count, id) != NULL)
            continue;
        snprintf(name, sizeof name, "cgroup %" PRIu64, id);
        if (add(paths, id, name) != CAMP_OK)
            return CAMP_E_NOMEM;
        qsort(paths->paths, paths->count, sizeof *paths->paths, compare_ids);
    }
    return CAMP_OK;
}

int cgroup_paths_resolve(struct cgroup_paths *paths, const struct frame *frame)
{
    int r;

    if (mark_used(paths, frame) == 0)
        return CAMP_OK;
    r = walk_all(paths);
    return r == CAMP_OK ? name_unknown(paths, frame) : r;
}

const char *cgroup_paths_name(const struct cgroup_paths *paths, uint64_t id)
{
    const struct cgroup_path *known = find(paths, paths->count, id);

    return known != NULL ? known->path : "?";
}
