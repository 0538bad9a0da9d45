#include "cause_groups.h"

#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_MAX 100000 /* then all are forgotten: exited ones are not told apart */

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

static bool has(const struct camp_states_group *group, const struct named_process *process)
{
    return group->kind == CAMP_GROUP_PROCESS ? group->pid == process->pid
                                             : strcmp(group->name, process->name) == 0;
}

static uint32_t number_of(const struct cause_groups *groups, const struct named_process *process,
                          uint32_t kind, uint32_t without)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->groups[i].kind == kind && (process == NULL || has(&groups->groups[i], process)))
            return groups->groups[i].number;
    }
    return without;
}

bool cause_groups_find(struct cause_groups *groups, const struct camp_thread_states *thread,
                       uint32_t *ret)
{
    bool (*const read_name)(int32_t, char *) =
        groups->read_name != NULL ? groups->read_name : read_first_name;
    struct named_process *process;

    *ret = number_of(groups, NULL, CAMP_GROUP_OTHER, 0);
    if (thread->pid == 0 && (thread->flags & CAMP_THREAD_TOTAL) == 0)
        return true;
    process = process_of(groups, thread->pid);
    if (process == NULL)
        return false;
    if (thread->tid == thread->pid ||
        (process->name[0] == '\0' && !read_name(thread->pid, process->name)))
        memcpy(process->name, thread->name, sizeof process->name);
    /* A worker of io_uring belongs to its process. */
    if ((thread->flags & CAMP_THREAD_KERNEL) != 0 && thread->tid == thread->pid) {
        *ret = number_of(groups, NULL, CAMP_GROUP_KERNEL, *ret);
        return true;
    }
    *ret = number_of(groups, process, CAMP_GROUP_NAME, *ret);
    *ret = number_of(groups, process, CAMP_GROUP_PROCESS, *ret);
    return true;
}

void cause_groups_release(struct cause_groups *groups)
{
    index_release(&groups->index);
    free(groups->processes);
    *groups = (struct cause_groups){ 0 };
}
