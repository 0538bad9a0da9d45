#include "thread_list.h"

#include "ledger/array.h"
#include "thread_states.h"

#include <stdlib.h>
#include <string.h>

void thread_list_release(struct thread_list *list)
{
    free(list->threads);
    index_release(&list->index);
}

bool thread_list_reserve(struct thread_list *list, size_t count)
{
    return ARRAY_RESERVE(list->threads, list->capacity, count);
}

static uint32_t hash_of(const struct camp_thread_states *thread)
{
    return index_hash_number(thread->begin_ns ^ (uint64_t)(uint32_t)thread->pid << 32);
}

static bool is_same(const void *context, uint32_t position, const void *thread)
{
    const struct thread_list *list = context;

    return thread_states_same(&list->threads[position], thread);
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

/* ------------------------------------------------------------------------------- Pending -- */

#define CARRIED_ONCE (1u << 30)
#define CARRIED_TWICE (2u << 30)

static void mark_ended(const struct thread_list *list, const struct camp_thread_states *exited)
{
    struct camp_thread_states *thread = thread_list_find(list, exited);

    if (thread != NULL)
        thread->flags |= CAMP_THREAD_ENDED;
}

/* Copies them behind the threads of `now`, and returns how many there are. */
static size_t copy_missing(const struct thread_list *now, const struct thread_list *before)
{
    size_t count = 0;

    for (size_t i = 0; i < before->count; i++) {
        const struct camp_thread_states *then = &before->threads[i];

        if ((then->flags & CAMP_THREAD_ENDED) == 0 && thread_list_find(now, then) == NULL)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserved by ARRAY_RESERVE() */
            now->threads[now->count + count++] = *then;
    }
    return count;
}

bool thread_list_carry_pending(struct thread_list *now, const struct thread_list *before,
                               struct camp_thread_states *exited, size_t exited_count)
{
    size_t missing;

    for (size_t i = 0; i < exited_count; i++) {
        mark_ended(before, &exited[i]);
        mark_ended(now, &exited[i]);
    }
    if (!thread_list_reserve(now, now->count + before->count + 1))
        return false;
    missing = copy_missing(now, before);
    for (size_t i = 0; i < exited_count; i++) {
        if ((exited[i].flags & CAMP_THREAD_TOTAL) != 0)
            thread_states_subtract_members(&exited[i], now->threads + now->count, missing,
                                           sizeof *now->threads);
    }
    for (size_t i = now->count, end = now->count + missing; i < end; i++) {
        if ((now->threads[i].flags & (CAMP_THREAD_ENDED | CARRIED_TWICE)) != 0)
            continue;
        now->threads[now->count] = now->threads[i];
        now->threads[now->count++].flags += CARRIED_ONCE;
    }
    return thread_list_index(now);
}
