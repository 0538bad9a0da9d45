#include "containers.h"

#include "container_place.h"
#include "counters/error.h"
#include "ledger/array.h"
#include "ledger/index.h"
#include "process_cgroup.h"
#include "sources/machine/cgroup_paths.h"

#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_INTERVALS 64 /* A place that no task had in so many intervals is forgotten. */
#define QUOTA_INTERVALS 5 /* A quota is read again after so many intervals. */
#define PLACES_MOST 16384 /* Tasks in further places are in "(unknown)". */

const char *const container_label_names[CONTAINER_LABEL_COUNT] = {
    "container", "pod", "unit", "container_quota", "pod_quota", "unit_quota",
};

bool container_label_is_group(const char *name)
{
    for (int i = 0; name != NULL && i <= LABEL_UNIT; i++) {
        if (strcmp(name, container_label_names[i]) == 0)
            return true;
    }
    return false;
}

/* Where a task was found, by the id of its cgroup or by its pid. */
struct found {
    uint64_t key;
    struct container_place *place;
    uint64_t last_used;
};

struct found_list {
    struct found *items; /* [count] */
    size_t count, capacity;
    struct index index;
};

struct containers {
    struct cgroup_paths paths; /* paths.mount is NULL without cgroups of version 2 */
    struct cpu_hierarchy cpus;
    /* The paths of version 1 are read of each process, because a task's id is of version 2. */
    bool has_ids;
    uint64_t interval, walked; /* walked: the last interval in which all cgroups were read */
    struct found_list ids, pids;
    struct container_place **places; /* [count] */
    size_t count, capacity;
    struct index index; /* of places, by their paths */
    struct container_place unknown;
    char note[256];
};

static bool has_key(const void *items, uint32_t position, const void *key)
{
    return ((const struct found *)items)[position].key == *(const uint64_t *)key;
}

static struct found *find_in(const struct found_list *list, uint64_t key)
{
    const struct index_slot *slot =
        index_find(&list->index, index_hash_number(key), has_key, list->items, &key);

    return slot != NULL ? &list->items[slot->position] : NULL;
}

static bool add_to(struct found_list *list, uint64_t key, struct container_place *place,
                   uint64_t interval)
{
    struct found *known = find_in(list, key);

    if (known == NULL) {
        if (!ARRAY_RESERVE(list->items, list->capacity, list->count + 1) ||
            !index_reserve(&list->index, list->count + 1))
            return false;
        index_add(&list->index, index_hash_number(key), (uint32_t)list->count);
        known = &list->items[list->count++];
    }
    *known = (struct found){ key, place, interval };
    return true;
}

/* Forgets what was last used before interval `since`. */
static void expire_list(struct found_list *list, uint64_t since)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].last_used >= since)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    index_clear(&list->index);
    for (size_t i = 0; i < kept; i++)
        index_add(&list->index, index_hash_number(list->items[i].key), (uint32_t)i);
}

static void free_place(struct container_place *place)
{
    free(place->path);
    free(place->cpu_path);
    free(place);
}

struct place_key {
    const char *path, *cpu_path;
};

static bool is_place(const void *places, uint32_t position, const void *key)
{
    const struct container_place *place = ((struct container_place *const *)places)[position];
    const struct place_key *wanted = key;

    return strcmp(place->path, wanted->path) == 0 &&
           strcmp(place->cpu_path != NULL ? place->cpu_path : "", wanted->cpu_path) == 0;
}

static uint32_t hash_of(const char *path)
{
    return index_hash_bytes(path, strlen(path));
}

/* A place refers to other places, which must stay as long as it does. So they are used, too. */
static void use_place(struct containers *containers, struct container_place *place)
{
    while (place != NULL && place->last_used != containers->interval) {
        place->last_used = containers->interval;
        place = place->own != place ? place->own : place->outer;
    }
}

static void expire_places(struct containers *containers, uint64_t since)
{
    size_t kept = 0;

    expire_list(&containers->ids, since);
    expire_list(&containers->pids, since);
    index_clear(&containers->index);
    for (size_t i = 0; i < containers->count; i++) {
        struct container_place *place = containers->places[i];

        if (place->last_used < since) {
            free_place(place);
            continue;
        }
        index_add(&containers->index, hash_of(place->path), (uint32_t)kept);
        containers->places[kept++] = place;
    }
    containers->count = kept;
}

static struct container_place *place_of(struct containers *containers, const char *path,
                                        const char *cpu_path);

/* Returns the place of the first `length` bytes of the place's path. */
static struct container_place *part_of(struct containers *containers,
                                       const struct container_place *place, size_t length)
{
    char path[4096];

    if (length >= sizeof path)
        return NULL;
    memcpy(path, place->path, length);
    path[length] = '\0';
    return place_of(containers, path, "");
}

/* Sets `own`, `outer` and the names from the files of a runtime. A container in a container has its
 * files there, and could give itself the id of any other. So they are not looked for. */
static bool look_up(struct containers *containers, struct container_place *place)
{
    const struct container_path *parsed = &place->parsed;

    if (parsed->runtime == RUNTIME_NONE)
        return true;
    place->own = place;
    if (parsed->container_length < strlen(place->path) || place->cpu_path != NULL)
        place->own = part_of(containers, place, parsed->container_length);
    else if (parsed->outer_length > 0)
        place->outer = part_of(containers, place, parsed->outer_length);
    else if (parsed->runtime != RUNTIME_LXC && parsed->runtime != RUNTIME_MACHINE)
        place->result = container_lookup(parsed, &place->names);
    return place->own != NULL &&
           (parsed->outer_length == 0 || place->own != place || place->outer != NULL);
}

/* A container names its pod also for the places that were seen before it. */
static void name_siblings(struct containers *containers, const struct container_place *place)
{
    for (size_t i = 0; i < containers->count; i++) {
        struct container_place *sibling = containers->places[i];

        if (place->names.pod[0] != '\0' && container_place_is_same_pod(sibling, place))
            container_place_name(sibling, containers->places, containers->count);
    }
}

static struct container_place *new_place(const char *path, const char *cpu_path)
{
    struct container_place *place = calloc(1, sizeof *place);

    if (place == NULL)
        return NULL;
    place->path = strdup(path);
    place->cpu_path = cpu_path[0] != '\0' ? strdup(cpu_path) : NULL;
    if (place->path == NULL || (cpu_path[0] != '\0' && place->cpu_path == NULL)) {
        free_place(place);
        return NULL;
    }
    container_path_parse(path, &place->parsed);
    return place;
}

static struct container_place *add_place(struct containers *containers, const char *path,
                                         const char *cpu_path)
{
    struct container_place *place = new_place(path, cpu_path);

    if (place == NULL)
        return NULL;
    if (!look_up(containers, place) ||
        !ARRAY_RESERVE(containers->places, containers->capacity, containers->count + 1) ||
        !index_reserve(&containers->index, containers->count + 1)) {
        free_place(place);
        return NULL;
    }
    index_add(&containers->index, hash_of(path), (uint32_t)containers->count);
    containers->places[containers->count++] = place;
    container_place_name(place, containers->places, containers->count);
    name_siblings(containers, place);
    return place;
}

static struct container_place *place_of(struct containers *containers, const char *path,
                                        const char *cpu_path)
{
    const struct place_key key = { path, cpu_path };
    const struct index_slot *slot =
        index_find(&containers->index, hash_of(path), is_place, containers->places, &key);

    if (slot != NULL)
        return containers->places[slot->position];
    return containers->count < PLACES_MOST ? add_place(containers, path, cpu_path)
                                           : &containers->unknown;
}

/* Reads the tree of cgroups to find the path of an id, at most once in an interval. Sets *ret_path
 * to NULL if the cgroup no longer exists. */
static int find_path(struct containers *containers, uint64_t id, const char **ret_path)
{
    static const struct schema none = { .name = "cgroups" };
    struct frame frame;
    struct entity *entity;
    int r = CAMP_OK;

    *ret_path = NULL;
    if (containers->paths.mount == NULL)
        return CAMP_OK;
    if (containers->walked != containers->interval) {
        frame_init(&frame, &none);
        entity = frame_add(&frame);
        r = entity != NULL ? CAMP_OK : CAMP_E_NOMEM;
        if (entity != NULL) {
            entity->cgroup = id;
            r = cgroup_paths_resolve(&containers->paths, &frame);
        }
        frame_release(&frame);
        containers->walked = containers->interval;
    }
    if (r == CAMP_OK && cgroup_paths_name(&containers->paths, id)[0] == '/')
        *ret_path = cgroup_paths_name(&containers->paths, id);
    return r;
}

static struct container_place *find_by_id(struct containers *containers, uint64_t id)
{
    struct found *known = find_in(&containers->ids, id);
    struct container_place *place = &containers->unknown;
    /* A cgroup may be newer than what was read in this interval: then it is found in the next. */
    const bool may_be_newer = containers->walked == containers->interval;
    const char *path;

    if (known != NULL) {
        known->last_used = containers->interval;
        return known->place;
    }
    if (find_path(containers, id, &path) != CAMP_OK)
        return NULL;
    if (path == NULL && may_be_newer)
        return &containers->unknown;
    if (path != NULL)
        place = place_of(containers, path, "");
    return place != NULL && add_to(&containers->ids, id, place, containers->interval) ? place
                                                                                      : NULL;
}

/* Reads the cgroup of a process, at most once in an interval. */
static struct container_place *find_by_pid(struct containers *containers,
                                           const struct container_task *task)
{
    struct found *known = find_in(&containers->pids, (uint64_t)task->pid);
    struct container_place *place = NULL;
    struct process_cgroup cgroup;

    if (known != NULL && known->last_used == containers->interval)
        return known->place;
    if (process_cgroup_read(task->pid, &cgroup))
        place = place_of(containers, cgroup.path, cgroup.cpu_path);
    else if (known != NULL)
        place = known->place;
    else if (task->cgroup != 0)
        place = find_by_id(containers, task->cgroup);
    if (place == NULL || place == &containers->unknown) {
        known = find_in(&containers->pids, (uint64_t)task->parent);
        place = known != NULL ? known->place : &containers->unknown;
    }
    return add_to(&containers->pids, (uint64_t)task->pid, place, containers->interval) ? place
                                                                                       : NULL;
}

const struct container_place *containers_find(struct containers *containers,
                                              const struct container_task *task)
{
    struct container_place *place = containers->has_ids && task->cgroup != 0
                                        ? find_by_id(containers, task->cgroup)
                                        : find_by_pid(containers, task);

    if (place == NULL)
        return NULL;
    use_place(containers, place);
    if (place->path != NULL &&
        (place->quotas_read == 0 || containers->interval - place->quotas_read >= QUOTA_INTERVALS)) {
        container_place_read_quotas(place, &containers->cpus);
        place->quotas_read = containers->interval;
    }
    return place;
}

const char *container_place_text(const struct container_place *place, enum container_label label)
{
    return place->texts[label];
}

static void add_to_note(struct containers *containers, size_t count, const char *why)
{
    const size_t length = strlen(containers->note);

    if (count > 0)
        snprintf(containers->note + length, sizeof containers->note - length, "%s%zu %s",
                 containers->note[0] != '\0' ? ", " : "Containers shown by id: ", count, why);
}

const char *containers_note(struct containers *containers)
{
    size_t denied = 0, nested = 0, broken = 0, gone = 0;

    for (size_t i = 0; i < containers->count; i++) {
        const struct container_place *place = containers->places[i];

        if (place->last_used != containers->interval || place->own != place)
            continue;
        denied += place->result == CAMP_E_PERM;
        nested += place->outer != NULL;
        gone += place->result == CAMP_E_GONE;
        broken += place->result != CAMP_E_PERM && place->result != CAMP_E_GONE &&
                  place->result != CAMP_OK;
    }
    containers->note[0] = '\0';
    add_to_note(containers, denied, "whose files this user may not read");
    add_to_note(containers, nested, "in other containers");
    add_to_note(containers, gone, "without a file of a runtime that camp knows");
    add_to_note(containers, broken, "whose files cannot be read");
    if (containers->note[0] != '\0')
        snprintf(containers->note + strlen(containers->note),
                 sizeof containers->note - strlen(containers->note), " (docs/containers.md)");
    return containers->note;
}

void containers_start(struct containers *containers)
{
    containers->interval++;
    if (containers->interval % KEPT_INTERVALS == 0 || containers->count >= PLACES_MOST)
        expire_places(containers, containers->count >= PLACES_MOST
                                      ? containers->interval - 1
                                      : containers->interval - KEPT_INTERVALS + 1);
}

int containers_open(struct containers **ret, struct camp_error *error)
{
    struct containers *containers = calloc(1, sizeof *containers);
    FILE *mounts = setmntent("/proc/self/mounts", "re");

    if (containers != NULL && mounts != NULL)
        cpu_hierarchy_find(mounts, &containers->cpus);
    if (mounts != NULL)
        endmntent(mounts);
    if (containers == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the names of containers");
    if (containers->cpus.mount == NULL) {
        containers_close(containers);
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "no cgroups here: no cgroup file system is mounted");
    }
    containers->has_ids = cgroup_paths_open(&containers->paths) && !containers->cpus.is_v1;
    for (int i = 0; i <= LABEL_UNIT; i++)
        snprintf(containers->unknown.texts[i], CONTAINER_TEXT_SIZE, "(unknown)");
    containers_start(containers);
    *ret = containers;
    return CAMP_OK;
}

void containers_close(struct containers *containers)
{
    if (containers == NULL)
        return;
    for (size_t i = 0; i < containers->count; i++)
        free_place(containers->places[i]);
    free(containers->places);
    free(containers->ids.items);
    free(containers->pids.items);
    index_release(&containers->ids.index);
    index_release(&containers->pids.index);
    index_release(&containers->index);
    cgroup_paths_release(&containers->paths);
    cpu_hierarchy_release(&containers->cpus);
    free(containers);
}
