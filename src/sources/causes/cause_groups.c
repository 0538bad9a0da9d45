#include "cause_groups.h"

#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_MAX                                                                              \
    100000 /* then all are forgotten, because exited processes are not recognised */

static bool is_process(const void *context, uint32_t position, const void *key)
{
    const struct cause_groups *groups = context;

    return groups->processes[position].pid == *(const int32_t *)key;
}

static bool read_first_name(int32_t pid, char ret[CAMP_STATES_NAME_SIZE])
{
    char path[64];
    FILE *file;
    size_t length;

    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    length = fread(ret, 1, CAMP_STATES_NAME_SIZE - 1, file);
    fclose(file);
    ret[length] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    return length > 0;
}

/* Returns the entry of a process, or NULL if there is no memory. A new one has no name. */
static struct named_process *process_of(struct cause_groups *groups, int32_t pid)
{
    const uint32_t hash = index_hash_number((uint64_t)pid);
    const struct index_slot *slot = index_find(&groups->index, hash, is_process, groups, &pid);

    if (slot != NULL)
        return &groups->processes[slot->position];
    if (groups->process_count >= PROCESSES_MAX) {
        groups->process_count = 0;
        index_clear(&groups->index);
    }
    if (!ARRAY_RESERVE(groups->processes, groups->process_capacity, groups->process_count + 1) ||
        !index_reserve(&groups->index, groups->process_count + 1))
        return NULL;
    groups->processes[groups->process_count] = (struct named_process){ .pid = pid };
    index_add(&groups->index, hash, (uint32_t)groups->process_count);
    return &groups->processes[groups->process_count++];
}

static bool read_name(const struct cause_groups *groups, int32_t pid,
                      char ret[CAMP_STATES_NAME_SIZE])
{
    return groups->read_name != NULL ? groups->read_name(pid, ret) : read_first_name(pid, ret);
}

/* The name of a process does not tell its group apart. */
static bool is_same(const struct camp_states_group *a, const struct camp_states_group *b)
{
    return a->kind == b->kind && a->pid == b->pid && a->cgroup == b->cgroup &&
           (a->kind != CAMP_GROUP_NAME || strcmp(a->name, b->name) == 0);
}

static bool is_used(const struct camp_states_group *group, uint64_t used)
{
    return group->number < CAUSE_GROUPS && (used >> group->number & 1) != 0;
}

size_t cause_groups_remove_doubles(struct camp_states_group *groups, size_t count, uint64_t used)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        size_t other = 0;

        while (other < left && !is_same(&groups[other], &groups[i]))
            other++;
        if (other == left || (is_used(&groups[other], used) && is_used(&groups[i], used)))
            groups[left++] = groups[i];
        else if (is_used(&groups[i], used))
            groups[other] = groups[i];
    }
    return left;
}

bool cause_groups_set(struct cause_groups *groups, struct camp_states_group *list, size_t count)
{
    bool changed = count != groups->count;

    for (size_t i = 0; i < count && !changed; i++)
        changed =
            groups->groups[i].number != list[i].number || !is_same(&groups->groups[i], &list[i]);
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == CAMP_GROUP_PROCESS && list[i].name[0] == '\0' &&
            !read_name(groups, list[i].pid, list[i].name))
            list[i].name[0] = '\0';
    }
    memcpy(groups->groups, list, count * sizeof *list);
    groups->count = count;
    groups->version += changed;
    changed |= groups->renamed;
    groups->renamed = false;
    return changed;
}

/* Returns the number of the first group of a kind, with this pid or name, or `without`. */
static uint32_t number_of(const struct cause_groups *groups, uint32_t kind, int32_t pid,
                          const char *name, uint32_t without)
{
    for (size_t i = 0; i < groups->count; i++) {
        const struct camp_states_group *group = &groups->groups[i];

        if (group->kind == kind && (kind != CAMP_GROUP_PROCESS || group->pid == pid) &&
            (kind != CAMP_GROUP_NAME || strcmp(group->name, name) == 0))
            return group->number;
    }
    return without;
}

static void name_process(struct cause_groups *groups, struct named_process *process,
                         const struct camp_thread_states *thread)
{
    if (thread->tid == thread->pid) {
        if (strcmp(process->name, thread->name) == 0)
            return;
        groups->renamed |= process->name[0] != '\0';
    } else if (process->name[0] != '\0' || read_name(groups, thread->pid, process->name)) {
        return;
    }
    memcpy(process->name, thread->name, sizeof process->name);
    process->version = 0;
}

/* Finds the group of one process, or else that of its name, or else `other`. */
static void find_by_process(const struct cause_groups *groups, struct named_process *process,
                            uint32_t other)
{
    const uint32_t own = number_of(groups, CAMP_GROUP_PROCESS, process->pid, NULL, CAUSE_GROUPS);

    process->is_own = own != CAUSE_GROUPS;
    process->group =
        process->is_own ? own : number_of(groups, CAMP_GROUP_NAME, 0, process->name, other);
    process->version = groups->version;
}

static bool is_watched(const struct cause_groups *groups, int32_t pid, const char *name)
{
    const struct named_process *watched = &groups->watched;

    return watched->pid != 0 ? watched->pid == pid
                             : watched->name[0] != '\0' && strcmp(watched->name, name) == 0;
}

static uint32_t number_of_cgroup(const struct cause_groups *groups, uint64_t cgroup,
                                 uint32_t without)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->groups[i].kind == CAMP_GROUP_CGROUP && groups->groups[i].cgroup == cgroup)
            return groups->groups[i].number;
    }
    return without;
}

bool cause_groups_find(struct cause_groups *groups, struct cause_cgroups *cgroups,
                       const struct camp_thread_states *thread, uint32_t *ret)
{
    uint32_t watched;

    const uint32_t other = number_of(groups, CAMP_GROUP_OTHER, 0, NULL, 0);
    struct named_process *process;

    *ret = other;
    if (thread->pid == 0) {
        if ((thread->flags & CAMP_THREAD_TOTAL) != 0)
            *ret = number_of(groups, CAMP_GROUP_NAME, 0, thread->name, other);
        return true;
    }
    /* A worker of io_uring belongs to its process. */
    if ((thread->flags & CAMP_THREAD_KERNEL) != 0 && thread->tid == thread->pid) {
        *ret = number_of(groups, CAMP_GROUP_KERNEL, 0, NULL, other);
        groups->is_kernel |= !groups->has_process && is_watched(groups, thread->pid, thread->name);
        return true;
    }
    process = process_of(groups, thread->pid);
    if (process == NULL)
        return false;
    name_process(groups, process, thread);
    if (!groups->has_process && is_watched(groups, process->pid, process->name)) {
        groups->has_process = true;
        groups->is_kernel = false;
    }
    if (process->version != groups->version || process->version == 0)
        find_by_process(groups, process, other);
    *ret = process->group;
    if (process->is_own || cgroups == NULL)
        return true;
    if (!cause_cgroups_find(cgroups, thread->cgroup, (thread->flags & CAMP_THREAD_ENDED) != 0,
                            &watched))
        return false;
    if (watched != CAUSE_GROUPS)
        *ret = watched;
    else if (*ret == other)
        *ret = number_of_cgroup(groups, thread->cgroup, other);
    return true;
}

void cause_groups_release(struct cause_groups *groups)
{
    index_release(&groups->index);
    free(groups->processes);
    *groups = (struct cause_groups){ 0 };
}
