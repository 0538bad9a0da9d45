#include "cause_cgroups.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/words.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define KNOWN_MOST 16384 /* then all are forgotten */

static bool is_known(const void *context, uint32_t position, const void *key)
{
    return ((const struct known_cgroup *)context)[position].id == *(const uint64_t *)key;
}

static struct known_cgroup *find(const struct cause_cgroups *cgroups, uint64_t id)
{
    const struct index_slot *slot =
        index_find(&cgroups->index, index_hash_number(id), is_known, cgroups->known, &id);

    return slot != NULL ? &cgroups->known[slot->position] : NULL;
}

static bool add(struct cause_cgroups *cgroups, uint64_t id, bool is_inside)
{
    struct known_cgroup *known = find(cgroups, id);

    if (known != NULL) {
        known->is_inside |= is_inside;
        known->version = cgroups->version;
        return true;
    }
    if (cgroups->count >= KNOWN_MOST) {
        cgroups->count = 0;
        index_clear(&cgroups->index);
    }
    if (!ARRAY_RESERVE(cgroups->known, cgroups->capacity, cgroups->count + 1) ||
        !index_reserve(&cgroups->index, cgroups->count + 1))
        return false;
    index_add(&cgroups->index, index_hash_number(id), (uint32_t)cgroups->count);
    cgroups->known[cgroups->count++] = (struct known_cgroup){ id, is_inside, cgroups->version };
    return true;
}

/* Adds the directory `path` and those below it. Restores the path. */
static bool walk(struct cause_cgroups *cgroups, char path[PATH_MAX])
{
    const size_t length = strlen(path);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool done = true;

    while (directory != NULL && done && (entry = readdir(directory)) != NULL) {
        if (entry->d_type != DT_DIR || strcmp(entry->d_name, "..") == 0)
            continue;
        if (strcmp(entry->d_name, ".") == 0) {
            done = add(cgroups, entry->d_ino, true);
        } else if (length + 1 + strlen(entry->d_name) < PATH_MAX) {
            snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name);
            done = walk(cgroups, path);
            path[length] = '\0';
        }
    }
    if (directory != NULL)
        closedir(directory);
    return done;
}

static bool walk_once(struct cause_cgroups *cgroups)
{
    char path[PATH_MAX];

    if (cgroups->is_walked)
        return true;
    cgroups->is_walked = true;
    snprintf(path, sizeof path, "%s", cgroups->folder);
    return walk(cgroups, path);
}

int cause_cgroups_watch(struct cause_cgroups *cgroups, struct camp_states *session,
                        const char *folder, uint64_t id, const char *name, struct camp_error *error)
{
    int r = camp_states_watch_cgroup(session, id, error);

    if (r == CAMP_OK)
        r = camp_states_group_of_cgroup(session, id, &cgroups->group, error);
    if (r != CAMP_OK)
        return r;
    free(cgroups->folder);
    free(cgroups->name);
    cgroups->folder = strdup(folder);
    cgroups->name = strdup(name);
    if (cgroups->folder == NULL || cgroups->name == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a cgroup");
    cgroups->session = session;
    cgroups->watched = id;
    return CAMP_OK;
}

void cause_cgroups_start(struct cause_cgroups *cgroups)
{
    cgroups->is_walked = false;
    cgroups->version++;
}

/* Asks the kernel for a cgroup, and looks for its directory. */
static bool resolve(struct cause_cgroups *cgroups, uint64_t id, bool walks)
{
    uint32_t number;
    const bool ran = camp_states_group_of_cgroup(cgroups->session, id, &number, NULL) == CAMP_OK;

    if (!ran && !walks)
        return true;
    return (ran || walk_once(cgroups)) && add(cgroups, id, ran);
}

bool cause_cgroups_find(struct cause_cgroups *cgroups, uint64_t id, bool has_exited, uint32_t *ret)
{
    const struct known_cgroup *known;

    *ret = CAUSE_GROUPS;
    if (cgroups->watched == 0)
        return true;
    known = find(cgroups, id);
    if ((known == NULL || (!known->is_inside && known->version != cgroups->version)) &&
        !resolve(cgroups, id, known == NULL || !has_exited))
        return false;
    known = find(cgroups, id);
    if (known != NULL && known->is_inside)
        *ret = cgroups->group;
    return true;
}

/* Finds the paths of cgroups, by their ids. */
static int find_paths(struct cause_cgroups *cgroups, const struct causes *causes)
{
    static const struct schema none = { .name = "cgroups" };
    struct frame frame;
    int r = CAMP_OK;

    frame_init(&frame, &none);
    for (size_t i = 0; i < causes->group_count && r == CAMP_OK; i++) {
        struct entity *entity;

        if (causes->groups[i].kind != CAMP_GROUP_CGROUP)
            continue;
        entity = frame_add(&frame);
        r = entity != NULL ? CAMP_OK : CAMP_E_NOMEM;
        if (entity != NULL)
            entity->cgroup = causes->groups[i].cgroup;
    }
    if (r == CAMP_OK && frame.entity_count > 0)
        r = cgroup_paths_resolve(&cgroups->paths, &frame);
    frame_release(&frame);
    return r;
}

/* The end of a path tells it apart from others better than its start. */
static void copy_end(char ret[CAUSE_CGROUP_SIZE], const char *path)
{
    const size_t length = strlen(path);
    const char *end = path;

    if (length < CAUSE_CGROUP_SIZE) {
        copy_text(ret, CAUSE_CGROUP_SIZE, path, length);
        return;
    }
    end += length - (CAUSE_CGROUP_SIZE - 4);
    while (((unsigned char)*end & 0xc0) == 0x80)
        end++;
    snprintf(ret, CAUSE_CGROUP_SIZE, "...%s", end);
}

bool cause_cgroups_name(struct cause_cgroups *cgroups, struct causes *causes)
{
    if (cgroups->paths.mount != NULL && find_paths(cgroups, causes) != CAMP_OK)
        return false;
    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];
        const bool is_watched = cgroups->watched != 0 && group->cgroup == cgroups->watched;

        if (group->kind != CAMP_GROUP_CGROUP || group->number >= CAUSE_GROUPS)
            continue;
        copy_end(causes->cgroups[group->number],
                 is_watched                     ? cgroups->name
                 : cgroups->paths.mount != NULL ? cgroup_paths_name(&cgroups->paths, group->cgroup)
                                                : "?");
    }
    return true;
}

void cause_cgroups_release(struct cause_cgroups *cgroups)
{
    free(cgroups->folder);
    free(cgroups->name);
    free(cgroups->known);
    index_release(&cgroups->index);
    cgroup_paths_release(&cgroups->paths);
    *cgroups = (struct cause_cgroups){ 0 };
}
