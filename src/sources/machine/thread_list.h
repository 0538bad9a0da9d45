/* A list of threads, and where in it each stands. */
#ifndef CAMP_SOURCES_MACHINE_THREAD_LIST_H
#define CAMP_SOURCES_MACHINE_THREAD_LIST_H

#include "ledger/index.h"

#include <camp/states.h>

#include <stdbool.h>

/* Owns its arrays: thread_list_release(). All zero is an empty one. */
struct thread_list {
    struct camp_thread_states *threads; /* [count] */
    size_t count, capacity;
    struct index index;
};

void thread_list_release(struct thread_list *list);

/* Room for `count` threads. False: no memory. */
bool thread_list_reserve(struct thread_list *list, size_t count);

/* Notes where each thread is, for thread_list_find(). False: no memory. */
bool thread_list_index(struct thread_list *list);

/* The same thread (thread_states_same()), as of the last thread_list_index(); NULL: it is not
 * there. */
struct camp_thread_states *thread_list_find(const struct thread_list *list,
                                            const struct camp_thread_states *thread);

#endif
