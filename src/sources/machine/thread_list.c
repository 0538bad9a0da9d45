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
