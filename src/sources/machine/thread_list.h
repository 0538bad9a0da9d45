/* A list of threads with an index. */
#ifndef CAMP_SOURCES_MACHINE_THREAD_LIST_H
#define CAMP_SOURCES_MACHINE_THREAD_LIST_H

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

#endif
