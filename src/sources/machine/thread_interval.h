/*
 * What each thread did between two snapshots of a session of microstates (camp_states_open()).
 * These rules account each nanosecond of a thread once:
 *
 * - A thread that is in both snapshots did the difference of its two readings.
 * - A thread that exited did the difference of its final reading and its last reading before. If
 *   the second snapshot contains the thread, too, its reading in that snapshot is ignored.
 * - A thread is pending if a snapshot lacks it, and its final reading has not arrived. Its last
 *   reading is kept, because its final reading arrives later: alone, or in a total.
 * - A total is the sum of several exited threads. If it contains pending threads, their last
 *   readings are subtracted from it.
 * - A thread may be older than the session, and in no snapshot before. Its states then start at the
 *   session's start, but its counters at the thread's start, so these counters are left out.
 */
#pragma once

#include "thread_list.h"

/* A flag of a difference: the thread started after the earlier snapshot. */
#define THREAD_NEW (1u << 29)

/* Returns what a thread did between its readings `then` and `now`. `then` is NULL if there is no
 * earlier reading. The result's begin_ns and time_ns are the start and end of the time between the
 * readings. */
struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then);

/* Writes the states and counters of a difference to values[THREADS_COLUMN_COUNT], in the order of
 * threads_schema. */
void thread_fill_values(uint64_t *values, const struct camp_thread_states *since);

/* Adds a thread with its last reading. Returns false if there is no memory. */
bool thread_pending_add(struct thread_list *pending, const struct camp_thread_states *then);

/* Returns the pending reading of an exited thread, or NULL if the thread is not pending. A second
 * call for the same thread returns NULL. */
const struct camp_thread_states *thread_pending_take(struct thread_list *pending,
                                                     const struct camp_thread_states *last);

/* Subtracts the readings of pending threads from a total, at most total->count of them. The threads
 * of a total have the same name, and had the same parent when they exited. A pending thread may
 * have another parent in its reading, because its parent exited in between. So pending threads with
 * the total's name and parent are subtracted first, and then pending threads with the total's name
 * alone. */
void thread_pending_subtract(struct thread_list *pending, struct camp_thread_states *total);

/* Called once for each snapshot. Drops readings that were taken or subtracted, and readings that
 * have been pending for three more snapshots. Returns false if there is no memory. */
bool thread_pending_age(struct thread_list *pending);

/* A struct of zeros has no snapshot yet. */
struct thread_interval {
    struct thread_list before, now;
    /* threads that exited in the interval. thread_interval_match() replaces their final readings by
     * what they did in the interval. Has no index. */
    struct thread_list exited;
    struct thread_list pending;
};

void thread_interval_release(struct thread_interval *interval);

/* Takes a snapshot, which ends the interval, and reads the threads that exited. Between two
 * snapshots thread_list_read_exited() must be called often, because the kernel holds only few
 * exited threads. */
int thread_interval_snapshot(struct thread_interval *interval, struct camp_states *session,
                             struct camp_error *error);

/* Matches the readings of the interval by the rules above. Returns CAMP_OK or CAMP_E_NOMEM. */
int thread_interval_match(struct thread_interval *interval);

/* A result other than CAMP_OK ends thread_interval_visit(). */
typedef int thread_interval_visitor(void *context, const struct camp_thread_states *since);

/* Must be called after thread_interval_match(). Calls `visit` with what each thread did in the
 * interval: first for living threads, then for exited threads. Empties the list of exited
 * threads. */
int thread_interval_visit(struct thread_interval *interval, thread_interval_visitor *visit,
                          void *context);
