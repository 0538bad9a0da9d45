#include "kept_threads.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_SNAPSHOTS 3 /* further snapshots in which a reading is kept */

struct kept_thread {
    struct camp_thread_states reading;
    uint32_t snapshots; /* further snapshots since the thread was first missing */
    enum { KEPT_FREE, KEPT_IN_TOTAL, KEPT_DONE } use;
};

static uint32_t hash_of(const struct camp_thread_states *thread)
{
    return index_hash_number(thread->begin_ns ^ (uint64_t)(uint32_t)thread->pid << 32);
}

static bool has_account(const struct kept_thread *kept, const struct camp_thread_states *thread)
{
    return kept->use != KEPT_DONE && kept->reading.pid == thread->pid &&
           kept->reading.begin_ns == thread->begin_ns;
}

static bool is_same(const void *kept, uint32_t position, const void *key)
{
    const struct kept_thread *one = (const struct kept_thread *)kept + position;

    return has_account(one, key) &&
           one->reading.tid == ((const struct camp_thread_states *)key)->tid;
}

static bool is_same_by_exec(const void *kept, uint32_t position, const void *key)
{
    const struct kept_thread *one = (const struct kept_thread *)kept + position;
    const struct camp_thread_states *thread = key;

    return has_account(one, key) &&
           (one->reading.tid == one->reading.pid || thread->tid == thread->pid);
}

int kept_threads_add(struct kept_threads *kept, const struct camp_thread_states *reading)
{
    const size_t count = kept->count;

    if (!ARRAY_RESERVE(kept->threads, kept->capacity, count + 1) ||
        !index_reserve(&kept->index, count + 1))
        return CAMP_E_NOMEM;
    kept->threads[count] = (struct kept_thread){ .reading = *reading };
    index_add(&kept->index, hash_of(reading), (uint32_t)count);
    kept->count++;
    return CAMP_OK;
}

/* Returns whether a total can have the thread of a kept reading. */
static bool may_be_in(const struct kept_thread *one, const struct camp_thread_states *total,
                      bool same_parent)
{
    return one->use == KEPT_FREE && (!same_parent || one->reading.parent == total->parent) &&
           strcmp(one->reading.name, total->name) == 0 && thread_fits(&one->reading, total);
}

static const struct camp_thread_states *take_other(struct kept_threads *kept,
                                                   const struct camp_thread_states *late)
{
    for (size_t i = 0; i < kept->count; i++) {
        struct kept_thread *one = &kept->threads[i];

        if (may_be_in(one, late, false)) {
            one->use = KEPT_IN_TOTAL;
            return &one->reading;
        }
    }
    return NULL;
}

const struct camp_thread_states *kept_threads_take(struct kept_threads *kept,
                                                   const struct camp_thread_states *late)
{
    const struct index *index = &kept->index;
    const struct index_slot *slot = index_find(index, hash_of(late), is_same, kept->threads, late);
    struct kept_thread *one;
    bool is_in_total;

    if (slot == NULL)
        slot = index_find(index, hash_of(late), is_same_by_exec, kept->threads, late);
    if (slot == NULL)
        return NULL;
    one = &kept->threads[slot->position];
    is_in_total = one->use == KEPT_IN_TOTAL;
    one->use = KEPT_DONE;
    return is_in_total ? take_other(kept, late) : &one->reading;
}

static int longest_first(const void *a, const void *b)
{
    const uint64_t left = thread_length_ns(&((const struct kept_thread *)a)->reading);
    const uint64_t right = thread_length_ns(&((const struct kept_thread *)b)->reading);

    return left > right ? -1 : left < right;
}

void kept_threads_sort(struct kept_threads *kept)
{
    if (kept->count > 0)
        qsort(kept->threads, kept->count, sizeof *kept->threads, longest_first);
}

struct camp_thread_states kept_threads_rest(struct kept_threads *kept,
                                            const struct camp_thread_states *total)
{
    struct camp_thread_states rest = *total;
    uint32_t threads = total->count;

    for (int any_parent = 0; any_parent <= 1; any_parent++) {
        for (size_t i = 0; i < kept->count && threads > 0; i++) {
            struct kept_thread *one = &kept->threads[i];

            if (!may_be_in(one, &rest, any_parent == 0))
                continue;
            rest = thread_since(&rest, &one->reading);
            one->use = KEPT_IN_TOTAL;
            threads--;
        }
    }
    rest.flags |= THREAD_NEW;
    return rest;
}

void kept_threads_age(struct kept_threads *kept)
{
    size_t count = 0;

    index_clear(&kept->index);
    for (size_t i = 0; i < kept->count; i++) {
        struct kept_thread *one = &kept->threads[i];

        if (one->use == KEPT_DONE || one->snapshots++ == KEPT_SNAPSHOTS)
            continue;
        kept->threads[count] = *one;
        index_add(&kept->index, hash_of(&one->reading), (uint32_t)count++);
    }
    kept->count = count;
}

void kept_threads_release(struct kept_threads *kept)
{
    free(kept->threads);
    index_release(&kept->index);
    *kept = (struct kept_threads){ 0 };
}
