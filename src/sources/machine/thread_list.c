#include "thread_list.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <stdlib.h>

#define LIVING_AT_FIRST 1024
#define EXITED_AT_ONCE 1024

void thread_list_release(struct thread_list *list)
{
    free(list->threads);
    index_release(&list->index);
    *list = (struct thread_list){ 0 };
}

bool thread_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    return a->pid == b->pid && a->begin_ns == b->begin_ns &&
           (a->tid == b->tid || a->tid == a->pid || b->tid == b->pid);
}

static uint32_t hash_of(const struct camp_thread_states *thread)
{
    return index_hash_number(thread->begin_ns ^ (uint64_t)(uint32_t)thread->pid << 32);
}

static bool is_same(const void *context, uint32_t position, const void *thread)
{
    const struct thread_list *list = context;

    return thread_is_same(&list->threads[position], thread);
}

bool thread_list_add(struct thread_list *list, const struct camp_thread_states *thread)
{
    if (!ARRAY_RESERVE(list->threads, list->capacity, list->count + 1) ||
        !index_reserve(&list->index, list->count + 1))
        return false;
    index_add(&list->index, hash_of(thread), (uint32_t)list->count);
    list->threads[list->count++] = *thread;
    return true;
}

bool thread_list_index(struct thread_list *list)
{
    index_clear(&list->index);
    if (!index_reserve(&list->index, list->count))
        return false;
    for (size_t i = 0; i < list->count; i++)
        index_add(&list->index, hash_of(&list->threads[i]), (uint32_t)i);
    return true;
}

struct camp_thread_states *thread_list_find(const struct thread_list *list,
                                            const struct camp_thread_states *thread)
{
    const struct index_slot *slot =
        index_find(&list->index, hash_of(thread), is_same, list, thread);

    return slot != NULL ? &list->threads[slot->position] : NULL;
}

static int fail_memory(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a list of threads");
}

int thread_list_read_living(struct thread_list *list, struct camp_states *session,
                            struct camp_error *error)
{
    size_t count = list->capacity > 0 ? list->capacity : LIVING_AT_FIRST;
    int r;

    list->count = 0;
    do {
        if (!ARRAY_RESERVE(list->threads, list->capacity, count))
            return fail_memory(error);
        r = camp_states_threads(session, list->threads, sizeof *list->threads, list->capacity,
                                &count, error);
    } while (r == CAMP_E_SPACE);
    list->count = r == CAMP_OK ? count : 0;
    return thread_list_index(list) ? r : fail_memory(error);
}

int thread_list_read_exited(struct thread_list *list, struct camp_states *session,
                            struct camp_error *error)
{
    size_t count;

    do {
        int r;

        if (!ARRAY_RESERVE(list->threads, list->capacity, list->count + EXITED_AT_ONCE))
            return fail_memory(error);
        r = camp_states_exits(session, list->threads + list->count, sizeof *list->threads,
                              EXITED_AT_ONCE, &count, error);
        if (r != CAMP_OK)
            return r;
        list->count += count;
    } while (count == EXITED_AT_ONCE);
    return CAMP_OK;
}
