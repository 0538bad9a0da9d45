#include "idle_threads.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

static bool is_of(const struct entity *row, const struct camp_thread_states *thread)
{
    return row->pid == thread->pid && row->uid == thread->uid && row->cgroup == thread->cgroup &&
           row->parent == thread->parent;
}

static bool is_process(const void *rows, uint32_t position, const void *thread)
{
    return is_of((const struct entity *)rows + position, thread);
}

static uint32_t hash_of(const struct camp_thread_states *thread)
{
    return index_hash_number((uint64_t)(uint32_t)thread->pid << 32 ^ thread->cgroup ^ thread->uid);
}

static void name_row(struct entity *row, const struct camp_thread_states *thread)
{
    row->id = thread->tid;
    memcpy(row->name, thread->name, sizeof thread->name);
}

static int add_process(struct idle_processes *processes, const struct camp_thread_states *thread,
                       uint32_t *group)
{
    struct entity *row;

    if (!ARRAY_RESERVE(processes->rows, processes->capacity, processes->count + 1) ||
        !index_reserve(&processes->index, processes->count + 1))
        return CAMP_E_NOMEM;
    index_add(&processes->index, hash_of(thread), (uint32_t)processes->count);
    *group = (uint32_t)processes->count++;
    row = &processes->rows[*group];
    *row = (struct entity){ .pid = thread->pid,
                            .parent = thread->parent,
                            .uid = thread->uid,
                            .cgroup = thread->cgroup,
                            .flags = ENTITY_ALIKE };
    row->flags |= (thread->flags & CAMP_THREAD_KERNEL) != 0 ? ENTITY_KERNEL : 0;
    name_row(row, thread);
    return CAMP_OK;
}

/* A row has the name of the process's first thread, or of the thread that was found first. */
int idle_processes_find(struct idle_processes *processes, const struct camp_thread_states *before,
                        const struct camp_thread_states *thread, uint32_t *group)
{
    if (before == NULL || !is_of(&processes->rows[*group], thread)) {
        const struct index_slot *slot =
            index_find(&processes->index, hash_of(thread), is_process, processes->rows, thread);

        if (slot == NULL)
            return add_process(processes, thread, group);
        *group = slot->position;
    }
    if (thread->tid == thread->pid)
        name_row(&processes->rows[*group], thread);
    return CAMP_OK;
}

void idle_processes_clear(struct idle_processes *processes)
{
    index_clear(&processes->index);
    processes->count = 0;
}

void idle_processes_release(struct idle_processes *processes)
{
    free(processes->rows);
    index_release(&processes->index);
    *processes = (struct idle_processes){ 0 };
}

static bool has_tid(const void *threads, uint32_t position, const void *tid)
{
    return ((const struct fresh_thread *)threads)[position].entity.id == *(const int32_t *)tid;
}

static struct fresh_thread *find(const struct fresh_list *list, int32_t tid)
{
    const struct index_slot *slot =
        index_find(&list->index, index_hash_number((uint32_t)tid), has_tid, list->threads, &tid);

    return slot != NULL ? &list->threads[slot->position] : NULL;
}

static void release_list(struct fresh_list *list)
{
    free(list->threads);
    index_release(&list->index);
    *list = (struct fresh_list){ 0 };
}

/* A list that was long once gives its memory back. */
void fresh_threads_start_interval(struct fresh_threads *fresh)
{
    struct fresh_list list = fresh->last;

    fresh->last = fresh->now;
    if (list.count < list.capacity / 8)
        release_list(&list);
    index_clear(&list.index);
    list.count = 0;
    fresh->now = list;
}

void fresh_threads_forget(struct fresh_threads *fresh, int32_t tid)
{
    struct fresh_thread *last = find(&fresh->last, tid);

    if (last != NULL)
        last->did = true;
}

/* A snapshot that is repeated may show a thread again. The later reading counts. */
int fresh_threads_add(struct fresh_threads *fresh, const struct fresh_thread *thread)
{
    struct fresh_list *list = &fresh->now;
    const int32_t tid = (int32_t)thread->entity.id;
    struct fresh_thread *known = find(list, tid);

    if (known != NULL) {
        *known = *thread;
        return CAMP_OK;
    }
    if (!ARRAY_RESERVE(list->threads, list->capacity, list->count + 1) ||
        !index_reserve(&list->index, list->count + 1))
        return CAMP_E_NOMEM;
    index_add(&list->index, index_hash_number((uint32_t)tid), (uint32_t)list->count);
    list->threads[list->count++] = *thread;
    return CAMP_OK;
}

void fresh_threads_release(struct fresh_threads *fresh)
{
    release_list(&fresh->last);
    release_list(&fresh->now);
}
