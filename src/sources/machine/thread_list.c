#include "thread_list.h"

#include "thread_states.h"

#include <stdlib.h>
#include <string.h>

void thread_list_release(struct thread_list *list)
{
    free(list->threads);
    free(list->places);
}

bool thread_list_reserve(struct thread_list *list, size_t count)
{
    struct camp_thread_states *grown;

    if (count <= list->capacity)
        return true;
    grown = reallocarray(list->threads, count + count / 4 + 64, sizeof *grown);
    if (grown == NULL)
        return false;
    list->threads = grown;
    list->capacity = count + count / 4 + 64;
    return true;
}

/* Where this thread is, or would be. */
static size_t place_of(const struct thread_list *list, const struct camp_thread_states *thread)
{
    const uint64_t key = thread->begin_ns ^ (uint64_t)(uint32_t)thread->pid << 32;
    size_t place = (size_t)(key * 0x9e3779b97f4a7c15 >> 32) & (list->place_count - 1);

    while (list->places[place] != 0 &&
           !thread_states_same(&list->threads[list->places[place] - 1], thread))
        place = (place + 1) & (list->place_count - 1);
    return place;
}

bool thread_list_index(struct thread_list *list)
{
    size_t wanted = 64;

    while (wanted < 2 * list->count)
        wanted *= 2;
    if (wanted > list->place_count) {
        uint32_t *grown = reallocarray(list->places, wanted, sizeof *grown);

        if (grown == NULL)
            return false;
        list->places = grown;
        list->place_count = wanted;
    }
    memset(list->places, 0, list->place_count * sizeof *list->places);
    for (size_t i = 0; i < list->count; i++)
        list->places[place_of(list, &list->threads[i])] = (uint32_t)i + 1;
    return true;
}

struct camp_thread_states *thread_list_find(const struct thread_list *list,
                                            const struct camp_thread_states *thread)
{
    uint32_t index = list->place_count > 0 ? list->places[place_of(list, thread)] : 0;

    return index > 0 ? &list->threads[index - 1] : NULL;
}
