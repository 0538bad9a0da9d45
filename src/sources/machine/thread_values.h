/* What a thread did between two readings of microstates, and its values in the order of
 * threads_schema. */
#pragma once

#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A flag in the result of thread_since(): the thread has no earlier reading, because it is new. */
#define THREAD_NEW (1u << 29)

/* Returns what a thread did between its readings `then` and `now`. `then` is NULL if there is no
 * earlier reading. begin_ns and time_ns of the result are the start and the end of this time. If
 * the thread is older than the session, and has no earlier reading, its states start at 0 when the
 * session starts. But its counters include the time before, so they are left out. */
struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then);

/* The time from begin_ns to time_ns. */
uint64_t thread_length_ns(const struct camp_thread_states *thread);

/* Returns whether `total` has all the time of `part`, in each state. */
bool thread_fits(const struct camp_thread_states *part, const struct camp_thread_states *total);

/* Returns what a thread did that only waited. */
struct camp_thread_states thread_waited(const struct camp_states_wait *wait);

/* Writes the states and counters in `since` to values[THREADS_COLUMN_COUNT], in the order of
 * threads_schema. */
void thread_fill_values(uint64_t *values, const struct camp_thread_states *since);

/* Returns where struct camp_thread_states has the value of a column of threads_schema. */
size_t thread_value_offset(size_t column);

/* Returns the columns of threads_schema that a session does not know, as bits 1 << index. */
uint64_t thread_unknown_columns(const struct camp_states_known *known);

/* A list of zeros is empty. */
struct thread_list {
    struct camp_thread_states *threads; /* [count] */
    size_t count, capacity;
};

void thread_list_release(struct thread_list *list);

/* Appends a thread. Returns CAMP_OK or CAMP_E_NOMEM. */
int thread_list_add(struct thread_list *list, const struct camp_thread_states *thread);
