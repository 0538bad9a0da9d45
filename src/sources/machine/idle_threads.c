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

/* Of two readings of a thread, the earlier one comes first. */
static int compare_threads(const void *a, const void *b)
{
    const struct recent_thread *left = a, *right = b;

    if (left->entity.id != right->entity.id)
        return left->entity.id < right->entity.id ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* A snapshot that is repeated may show a thread again. The later reading counts. */
static void sort_list(struct recent_list *list)
{
    size_t count = 0;

    qsort(list->threads, list->count, sizeof *list->threads, compare_threads);
    for (size_t i = 0; i < list->count; i++) {
        if (i + 1 == list->count || list->threads[i + 1].entity.id != list->threads[i].entity.id)
            list->threads[count++] = list->threads[i];
    }
    list->count = count;
    list->is_unsorted = false;
}

static void release_list(struct recent_list *list)
{
    free(list->threads);
    *list = (struct recent_list){ 0 };
}

/* Frees a list that is much larger than needed. */
void recent_threads_start_interval(struct recent_threads *recent)
{
    struct recent_list list = recent->last;

    recent->last = recent->now;
    if (list.count < list.capacity / 8)
        release_list(&list);
    list.count = 0;
    recent->now = list;
    if (recent->last.is_unsorted)
        sort_list(&recent->last);
    recent->last.next = 0;
}

static int compare_tid(const void *tid, const void *element)
{
    const int64_t wanted = *(const int32_t *)tid;
    const struct recent_thread *thread = element;

    return wanted < thread->entity.id ? -1 : wanted > thread->entity.id;
}

/* A snapshot shows threads in the order of their tids, so most threads are the next one. */
void recent_threads_forget(struct recent_threads *recent, int32_t tid)
{
    struct recent_list *last = &recent->last;

    if (last->next >= last->count || last->threads[last->next].entity.id != tid)
        last->next = ARRAY_POSITION(&tid, last->threads, last->count, compare_tid);
    if (last->next < last->count && last->threads[last->next].entity.id == tid)
        last->threads[last->next++].is_done = true;
}

int recent_threads_add(struct recent_threads *recent, const struct recent_thread *thread)
{
    struct recent_list *list = &recent->now;
    const size_t at = list->count;

    if (!ARRAY_RESERVE(list->threads, list->capacity, at + 1))
        return CAMP_E_NOMEM;
    list->is_unsorted |= at > 0 && list->threads[at - 1].entity.id >= thread->entity.id;
    list->threads[at] = *thread;
    list->threads[at].order = at;
    list->count++;
    return CAMP_OK;
}

void recent_threads_release(struct recent_threads *recent)
{
    release_list(&recent->last);
    release_list(&recent->now);
}
