/*
 * What each thread did between two snapshots of a session of microstates (camp_states_open()). A
 * snapshot has a reading of each living thread, and a thread that exits has a final reading. These
 * rules account each nanosecond of a thread once:
 *
 * - For a thread in both snapshots, its first reading is subtracted from its second.
 * - For a thread that exited, its reading in the first snapshot is subtracted from its final
 *   reading. If the second snapshot has the thread, too, its reading there is ignored.
 * - A thread is pending if the second snapshot lacks it, but its final reading has not arrived. Its
 *   newest reading is kept, and subtracted when the final reading arrives.
 * - The final readings of several threads may arrive as one sum, called a total. The kept readings
 *   of its threads are subtracted from it.
 * - If a thread is older than the session, and in no earlier snapshot, its states start at 0 when
 *   the session starts. But its counters include the time before, so they are left out.
 */
#pragma once

#include "thread_list.h"

/* A flag in the result of thread_since(): the thread has no earlier reading, because it is new. */
#define THREAD_NEW (1u << 29)

/* Returns what a thread did between its readings `then` and `now`. `then` is NULL if there is no
 * earlier reading. begin_ns and time_ns of the result are the start and the end of this time. */
struct camp_thread_states thread_since(const struct camp_thread_states *now,
                                       const struct camp_thread_states *then);

/* Writes the states and counters in `since` to values[THREADS_COLUMN_COUNT], in the order of
 * threads_schema. */
void thread_fill_values(uint64_t *values, const struct camp_thread_states *since);

/* Returns the columns of threads_schema that a session does not know, as bits 1 << index. */
uint64_t thread_unknown_columns(const struct camp_states_known *known);

/* Keeps `then`, the newest reading of a pending thread. Returns false if there is no memory. */
bool thread_pending_add(struct thread_list *pending, const struct camp_thread_states *then);

/* Returns the kept reading of the thread whose final reading is `last`, or NULL if the thread is
 * not pending. After this call it is no longer pending. */
const struct camp_thread_states *thread_pending_take(struct thread_list *pending,
                                                     const struct camp_thread_states *last);

/* Subtracts the kept readings of at most total->count pending threads from a total. All threads of
 * a total had one name, and one parent when they exited. So pending threads with this name and
 * parent are chosen first, and then threads with this name and another parent: their parent may
 * have exited after their reading. */
void thread_pending_subtract(struct thread_list *pending, struct camp_thread_states *total);

/* Called once for each snapshot. Drops readings that were taken or subtracted, and readings that
 * were kept for three further snapshots. Returns false if there is no memory. */
bool thread_pending_age(struct thread_list *pending);

/* A struct of zeros has no snapshot yet. */
struct thread_interval {
    struct thread_list before, now;
    /* The final readings of threads that exited in the interval; thread_interval_match() replaces
     * them by what the threads did in the interval. This list has no index. */
    struct thread_list exited;
    struct thread_list pending;
};

void thread_interval_release(struct thread_interval *interval);

/* Takes a snapshot, which ends the interval, and reads the threads that exited. Between two
 * snapshots thread_list_read_exited() must be called often, because the kernel side of the session
 * has space for only few exited threads. */
int thread_interval_snapshot(struct thread_interval *interval, struct camp_states *session,
                             struct camp_error *error);

/* Applies the rules above to exited and pending threads. Returns CAMP_OK or CAMP_E_NOMEM. */
int thread_interval_match(struct thread_interval *interval);

/* A result other than CAMP_OK ends thread_interval_visit(). */
typedef int thread_interval_visitor(void *context, const struct camp_thread_states *since);

/* Must be called after thread_interval_match(). Calls `visit` with what each thread did in the
 * interval: first for living threads, then for exited threads. Empties interval->exited. */
int thread_interval_visit(struct thread_interval *interval, thread_interval_visitor *visit,
                          void *context);
