/* A list of readings of threads, with an index for thread_list_find(). */
#pragma once

#include "ledger/index.h"

#include <camp/states.h>

#include <stdbool.h>

/* A list of zeros is empty. */
struct thread_list {
    struct camp_thread_states *threads; /* [count] */
    size_t count, capacity;
    struct index index;
};

void thread_list_release(struct thread_list *list);

/* Returns whether two readings are of the same thread. Their pid and begin_ns must be equal, and
 * their tid, too. But exec() may have changed the tid to the pid, so a tid that equals the pid also
 * matches. */
bool thread_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Appends a reading, and adds it to the index. Returns false if there is no memory. */
bool thread_list_add(struct thread_list *list, const struct camp_thread_states *thread);

/* Rebuilds the index after threads[] was changed. Returns false if there is no memory. */
bool thread_list_index(struct thread_list *list);

/* Returns the list's reading of the same thread as `thread`, or NULL if the list has none. */
struct camp_thread_states *thread_list_find(const struct thread_list *list,
                                            const struct camp_thread_states *thread);

/* Replaces the list by the readings of all living threads. Returns CAMP_OK, CAMP_E_NOMEM, or the
 * error of camp_states_threads(). */
int thread_list_read_living(struct thread_list *list, struct camp_states *session,
                            struct camp_error *error);

/* Appends the final readings of threads that exited since the previous call, but does not add them
 * to the index. Returns CAMP_OK, CAMP_E_NOMEM, or the error of camp_states_exits(). */
int thread_list_read_exited(struct thread_list *list, struct camp_states *session,
                            struct camp_error *error);
