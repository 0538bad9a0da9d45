/* A list of threads with an index. */
#pragma once

#include "ledger/index.h"

#include <camp/states.h>

#include <stdbool.h>

/* thread_list_release() frees the arrays. All zero: empty. */
struct thread_list {
    struct camp_thread_states *threads; /* [count] */
    size_t count, capacity;
    struct index index;
};

void thread_list_release(struct thread_list *list);

/* Reserves space for `count` threads. False: no memory. */
bool thread_list_reserve(struct thread_list *list, size_t count);

/* Builds the index for thread_list_find(). False: no memory. */
bool thread_list_index(struct thread_list *list);

/* The same thread (thread_states_same()), as of the last thread_list_index(); NULL: missing. */
struct camp_thread_states *thread_list_find(const struct thread_list *list,
                                            const struct camp_thread_states *thread);

/* In the flags of a carried thread, how often it was carried: 1 or 2. */
#define THREAD_PENDING (3u << 30)

/* Puts the threads of `before` that `now` lacks, and whose last numbers are not in
 * exited[exited_count], behind those of `now`, so that their last readings are subtracted when
 * their last numbers come: alone or in a total, up to two snapshots later. Threads that exited get
 * CAMP_THREAD_ENDED in both lists; from totals in `exited` the readings of their members are
 * subtracted. Builds the index of `now`. False: no memory. */
bool thread_list_carry_pending(struct thread_list *now, const struct thread_list *before,
                               struct camp_thread_states *exited, size_t exited_count);
