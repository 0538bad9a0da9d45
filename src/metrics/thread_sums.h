/*
 * Threads added up as they are looked at: what each did since the look before goes to its group and
 * to the whole machine, and no list of threads is kept but the session's own. Of a thread that
 * slept on there is one number to add.
 *
 * A thread is told by its process and since when it is watched. Who is missing in a look has its
 * last numbers still to come, or goes on under another tid (exec(2) by another than the first
 * thread): it is remembered for some looks, so that nothing of it is booked twice.
 */
#ifndef CAMP_METRICS_THREAD_SUMS_H
#define CAMP_METRICS_THREAD_SUMS_H

#include "members.h"

/* Of each group: the states, then: */
enum thread_sum {
    SUM_MEASURED = CAMP_STATE_COUNT, /* CPU time, by the scheduler's count */
    SUM_SAMPLED,                     /* by ticks */
    THREAD_SUM_COUNT
};

/* Of the whole machine. */
enum thread_count {
    COUNT_RUN_DELAY,
    COUNT_SYSTEM_CALLS,
    COUNT_SIGNALS,
    COUNT_VOLUNTARY,
    COUNT_INVOLUNTARY,
    COUNT_MINOR_FAULTS,
    COUNT_MAJOR_FAULTS,
    COUNT_READ_BYTES,
    COUNT_WRITTEN_BYTES,
    THREAD_COUNT_COUNT
};

struct missing_thread {
    struct camp_thread_states thread; /* as it was seen last */
    uint64_t look;
};

struct thread_sums {
    struct top_k top;
    struct members members;
    uint64_t counts[THREAD_COUNT_COUNT];
    uint64_t threads, processes; /* living, in the last look */
    uint64_t looked_ns;          /* when the last look ended, CLOCK_MONOTONIC */

    struct missing_thread *missing; /* [missing_count] */
    size_t missing_count, missing_capacity;
    /* Of this look: who may be one of the missing, and totals of those that ended. */
    struct camp_thread_states *late;
    size_t late_count, late_capacity;
    bool forgets; /* groups that were noted are void, until a look has met all threads again */
    int result;   /* of this look */
};

/* `members` is taken over. thread_sums_release() in any case. */
int thread_sums_init(struct thread_sums *ret, const struct members *members, size_t places);
void thread_sums_release(struct thread_sums *sums);

/* One look, by a session that is open since looked_ns. `forget`: rules are others than before. */
int thread_sums_look(struct thread_sums *sums, struct camp_states *session, bool forget,
                     struct camp_error *error);

/* Whom a session tells (what thread_sums_look() does, for tests): begin, visit, end, and then
 * looked_ns is set. After a visit that failed there is no end. */
void thread_sums_begin(struct thread_sums *sums, uint64_t now_ns, bool forget);
struct camp_states_visitor thread_sums_visitor(struct thread_sums *sums);
int thread_sums_end(struct thread_sums *sums);

#endif
