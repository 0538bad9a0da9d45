#include "thread_sums.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/containers/container_path.h"
#include "sources/containers/thread_cgroups.h"
#include "sources/machine/process_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum length of a group's name in bytes. Of a longer name only the end is kept, because paths
 * of cgroups differ at the end. */
#define NAME_MAXIMUM 200

int members_init(struct members *ret, enum group_key key, const struct workloads *rules,
                 enum container_label label, struct camp_error *error)
{
    *ret = (struct members){ .key = key, .rules = rules, .label = label };
    if (key == GROUP_LABEL)
        return containers_open(&ret->containers, error);
    if (key == GROUP_CGROUP && !thread_cgroups_open(&ret->cgroups))
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "no cgroups here: no cgroup file system is mounted");
    return CAMP_OK;
}

void members_release(struct members *members)
{
    free(members->processes);
    index_release(&members->index);
    user_names_release(&members->users);
    cgroup_paths_release(&members->cgroups);
    containers_close(members->containers);
    *members = (struct members){ 0 };
}

void members_start(struct members *members)
{
    if (members->containers != NULL)
        containers_start(members->containers);
}

void members_clear(struct members *members)
{
    index_clear(&members->index);
    members->count = 0;
}

static uint32_t hash_of(int32_t pid)
{
    return index_hash_number((uint32_t)pid);
}

static bool has_pid(const void *processes, uint32_t position, const void *pid)
{
    return ((const struct member *)processes)[position].pid == *(const int32_t *)pid;
}

static struct index_slot *slot_of(const struct members *members, int32_t pid)
{
    return index_find(&members->index, hash_of(pid), has_pid, members->processes, &pid);
}

static int keep_process(struct members *members, int32_t pid, uint32_t group)
{
    const struct index_slot *slot = slot_of(members, pid);

    if (slot != NULL) {
        members->processes[slot->position].group = group;
        return CAMP_OK;
    }
    if (!ARRAY_RESERVE(members->processes, members->capacity, members->count + 1) ||
        !index_reserve(&members->index, members->count + 1))
        return CAMP_E_NOMEM;
    index_add(&members->index, hash_of(pid), (uint32_t)members->count);
    members->processes[members->count++] = (struct member){ pid, group };
    return CAMP_OK;
}

/* Removes a process if `thread` is its first thread. The last process of the array takes its
 * place. */
void members_leave(struct members *members, const struct camp_thread_states *thread)
{
    struct index_slot *slot = thread->tid == thread->pid ? slot_of(members, thread->pid) : NULL;
    const struct member *last;
    uint32_t position;

    if (slot == NULL)
        return;
    last = &members->processes[members->count - 1];
    position = slot->position;
    slot_of(members, last->pid)->position = position;
    index_remove(&members->index, slot);
    members->processes[position] = *last;
    members->count--;
}

static int find_number(struct top_k *top, uint64_t number, uint32_t *ret)
{
    const struct top_k_key key = { .number = number };

    return top_k_find(top, &key, ret);
}

static int find_name(struct top_k *top, const struct camp_thread_states *thread, uint32_t *ret)
{
    struct top_k_key key = { 0 };

    memcpy(key.text, thread->name, sizeof thread->name);
    return top_k_find(top, &key, ret);
}

static int find_workload(struct members *members, struct top_k *top,
                         const struct camp_thread_states *thread, uint32_t *ret)
{
    const bool has_line = (thread->flags & (CAMP_THREAD_KERNEL | CAMP_THREAD_ENDED)) == 0;
    struct top_k_key key = { 0 };
    char line[PROCESS_LINE_SIZE] = "";
    const char *name;

    if (workloads_need_lines(members->rules))
        process_line(thread->pid, has_line, thread->name, line);
    name = workloads_name(members->rules,
                          workloads_match(members->rules, thread->name,
                                          user_names_get(&members->users, thread->uid), line));
    snprintf(key.text, sizeof key.text, "%s", name);
    return top_k_find(top, &key, ret);
}

/* Finds the group of a thread's process. The group of a first thread is found by its name or by
 * rules, and is kept for the other threads of the process, unless the process has exited. */
static int find_process_group(struct members *members, struct top_k *top,
                              const struct camp_thread_states *thread, uint32_t *ret)
{
    const bool is_first = thread->tid == thread->pid;
    const struct index_slot *process = is_first ? NULL : slot_of(members, thread->pid);
    int r;

    if (process != NULL) {
        *ret = members->processes[process->position].group;
        return CAMP_OK;
    }
    r = members->key == GROUP_NUMBER ? find_workload(members, top, thread, ret)
                                     : find_name(top, thread, ret);
    return r == CAMP_OK && is_first && (thread->flags & CAMP_THREAD_ENDED) == 0
               ? keep_process(members, thread->pid, *ret)
               : r;
}

/* The key is the whole name, so that a group keeps its name when the container is gone. */
static int find_label(const struct members *members, struct top_k *top,
                      const struct camp_thread_states *thread, uint32_t *ret)
{
    const struct container_task task = { thread->cgroup, thread->pid, thread->parent };
    const struct container_place *place = containers_find(members->containers, &task);
    struct top_k_key key = { 0 };

    _Static_assert(sizeof key.text >= CONTAINER_TEXT_SIZE, "no name is cut");
    if (place == NULL)
        return CAMP_E_NOMEM;
    snprintf(key.text, sizeof key.text, "%s", container_place_text(place, members->label));
    return top_k_find(top, &key, ret);
}

static bool is_unchanged(const struct camp_thread_states *before,
                         const struct camp_thread_states *thread)
{
    return before != NULL && before->uid == thread->uid && strcmp(before->name, thread->name) == 0;
}

int members_find(struct members *members, struct top_k *top,
                 const struct camp_thread_states *before, const struct camp_thread_states *thread,
                 uint32_t *ret)
{
    int r = CAMP_OK;

    if (members->key == GROUP_USER)
        return find_number(top, thread->uid, ret);
    if (members->key == GROUP_CGROUP)
        return find_number(top, thread->cgroup, ret);
    if (members->key == GROUP_LABEL)
        return find_label(members, top, thread, ret);
    if (!is_unchanged(before, thread))
        r = find_process_group(members, top, thread, ret);
    if (r == CAMP_OK)
        top->groups[*ret].last_seen = top->snapshots;
    return r;
}

/* cgroup_paths_resolve() needs a frame, so this function makes a frame of the shown cgroups. */
static int resolve_cgroups(struct members *members, const struct top_k *top)
{
    static const struct schema none = { .name = "cgroups" };
    struct frame frame;
    int r = CAMP_OK;

    frame_init(&frame, &none);
    for (size_t i = 0; i < top->count && r == CAMP_OK; i++) {
        struct entity *entity = top->groups[i].shown != NULL ? frame_add(&frame) : NULL;

        if (entity != NULL)
            entity->cgroup = top->groups[i].key.number;
        else if (top->groups[i].shown != NULL)
            r = CAMP_E_NOMEM;
    }
    if (r == CAMP_OK)
        r = cgroup_paths_resolve(&members->cgroups, &frame);
    frame_release(&frame);
    return r;
}

static const char *own_name(struct members *members, const struct top_k_group *group)
{
    if (members->key == GROUP_USER)
        return user_names_get(&members->users, (uint32_t)group->key.number);
    if (members->key == GROUP_CGROUP)
        return cgroup_paths_name(&members->cgroups, group->key.number);
    return group->key.text;
}

/* Returns whether a name is in use. "other" is always in use, for the sum of all groups that are
 * not shown. */
static bool is_used(const struct top_k *top, const char *name)
{
    if (strcmp(name, "other") == 0)
        return true;
    for (size_t i = 0; i < top->count; i++) {
        if (top->groups[i].name != NULL && strcmp(top->groups[i].name, name) == 0)
            return true;
    }
    return false;
}

char *members_unique_name(const struct top_k *top, const struct top_k_group *group, const char *own)
{
    const size_t length = strlen(own);
    const char *end = length > NAME_MAXIMUM ? own + length - NAME_MAXIMUM : own;
    char name[NAME_MAXIMUM + 48];

    snprintf(name, sizeof name, "%s%s", end != own ? "..." : "", end);
    for (uint64_t number = group->key.number; is_used(top, name); number++)
        snprintf(name, sizeof name, "%s%s (%" PRIu64 ")", end != own ? "..." : "", end, number);
    return strdup(name);
}

int members_name(struct members *members, struct top_k *top)
{
    bool known = false;

    for (size_t i = 0; i < top->count; i++) {
        struct top_k_group *group = &top->groups[i];
        int r = CAMP_OK;

        if (group->shown == NULL || group->name != NULL)
            continue;
        if (members->key == GROUP_CGROUP && !known)
            r = resolve_cgroups(members, top);
        known = true;
        group->name =
            r == CAMP_OK ? members_unique_name(top, group, own_name(members, group)) : NULL;
        if (group->name == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}
