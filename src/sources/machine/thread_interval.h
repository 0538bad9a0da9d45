/*
 * What each thread did between two snapshots of a session of microstates: the rules by which each
 * nanosecond of a thread is accounted once.
 *
 * - A thread that is in both snapshots did the difference of its two readings.
 * - A thread that exited did the difference of its final reading and its earlier one, even if it is
 *   in the second snapshot, too.
 * - A thread that is missing in a snapshot, and whose final reading has not arrived, is pending:
 *   its last reading is kept, because the final one arrives later, alone or in a total.
 * - A total of exited threads contains pending threads: their last readings are subtracted from it.
 * - A thread that is older than the session, and that was in no snapshot before, has states since
 *   it was attached, but counters since its own start: these counters are left out.
 */
#pragma once

#include "thread_list.h"

/* In the flags of a difference: the thread started since the earlier snapshot. */
#define THREAD_NEW (1u << 29)

/* Returns what a thread did from the reading `then` to `now`; `then` is NULL if there is no earlier
 * reading. The result's begin_ns and time_ns are the start and end of that time. */
struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then);

/* Writes what a thread did in the columns of threads_schema. */
void thread_fill_values(uint64_t *values, const struct camp_thread_states *since);

/* -------------------------------------------------------------------- Pending threads -- */

/* Adds a thread with its last reading. False: no memory. */
bool thread_pending_add(struct thread_list *pending, const struct camp_thread_states *then);

/* Returns the pending reading of an exited thread, only once; NULL: the thread is not pending. */
const struct camp_thread_states *thread_pending_take(struct thread_list *pending,
                                                     const struct camp_thread_states *last);

/* Subtracts the readings of pending threads from a total, at most total->count of them. A total is
 * of threads that had one name, and one parent when they exited; a thread whose parent exited
 * before it has an earlier parent in its reading. So pending threads with the total's name and
 * parent are subtracted first, then those with its name alone. */
void thread_pending_subtract(struct thread_list *pending, struct camp_thread_states *total);

/* At the end of a snapshot: drops readings that were taken or subtracted, and those that have been
 * pending for three further snapshots. False: no memory. */
bool thread_pending_age(struct thread_list *pending);

/* --------------------------------------------------------------------------- Intervals -- */

/* All zero: no snapshot yet. */
struct thread_interval {
    struct thread_list before, now; /* the two snapshots */
    struct thread_list exited; /* threads that exited in the interval; after thread_interval_match()
                                * what each did in it. Has no index */
    struct thread_list pending;
};

void thread_interval_release(struct thread_interval *interval);

/* Ends an interval with a snapshot, and reads the threads that exited. Between two snapshots,
 * thread_list_read_exited() should be called often: the kernel holds only few exited threads. */
int thread_interval_snapshot(struct thread_interval *interval, struct camp_states *session,
                             struct camp_error *error);

/* Matches the readings of the interval. CAMP_OK or CAMP_E_NOMEM. */
int thread_interval_match(struct thread_interval *interval);

/* A result other than CAMP_OK ends the visit. */
typedef int thread_interval_visitor(void *context, const struct camp_thread_states *since);

/* After thread_interval_match(): passes what each thread did, living and then exited ones, and
 * forgets the exited ones. */
int thread_interval_visit(struct thread_interval *interval, thread_interval_visitor *visit,
                          void *context);
