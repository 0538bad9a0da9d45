/* A list of the readings of threads, with an index for thread_list_find(). */
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

/* Whether two readings are of one thread: of one process, and attached at the same moment. The tid
 * does not identify a thread: exec() by a thread gives it the first tid and the start time of its
 * process. */
bool thread_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Adds a thread, which thread_list_find() finds from then on. False: no memory. */
bool thread_list_add(struct thread_list *list, const struct camp_thread_states *thread);

/* Rebuilds the index after a change of threads[]. False: no memory. */
bool thread_list_index(struct thread_list *list);

/* Finds the reading of the same thread; NULL: the list has none. */
struct camp_thread_states *thread_list_find(const struct thread_list *list,
                                            const struct camp_thread_states *thread);

/* Replaces the list by all living threads. CAMP_OK, CAMP_E_NOMEM, or the result of
 * camp_states_threads(). */
int thread_list_read_living(struct thread_list *list, struct camp_states *session,
                            struct camp_error *error);

/* Appends the threads that exited since the last call; thread_list_find() does not find them.
 * CAMP_OK, CAMP_E_NOMEM, or the result of camp_states_exits(). */
int thread_list_read_exited(struct thread_list *list, struct camp_states *session,
                            struct camp_error *error);
