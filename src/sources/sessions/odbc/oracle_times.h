/*
 * What a session of Oracle did between two snapshots. Pure arithmetic.
 *
 * The time of an event is the sum of finished waits and the wait in flight; an interval has the
 * difference of two sums. So a wait that lasts over many snapshots is accounted in each interval,
 * and the accounted part is subtracted once the wait is among the finished ones. If it ends during
 * a snapshot, the number of finished waits decides whether they contain it; if that is ambiguous,
 * it counts as one of them, so that no time is accounted twice.
 *
 * Waits contain the time from waking to running, because the process reads the clock before and
 * after its sleep. The run queue of the operating system contains that time too. So the run queue
 * gets at most the rest that CPU time and waits leave.
 */
#pragma once

#include "oracle_snapshot.h"

/* A session in both snapshots, and what it did in between. */
struct oracle_times {
    const struct oracle_session *session; /* of the second snapshot */
    bool is_known; /* false: it is uncertain what was in flight in the first snapshot */
    bool has_clock;
    uint64_t elapsed_ns;
    uint64_t cpu_ns; /* by the operating system; without has_clock the same as reported_cpu_ns */
    uint64_t run_queue_ns;
    uint64_t reported_cpu_ns;         /* DB CPU, written about every 5 s */
    uint64_t reported_run_queue_ns;   /* DB time less DB CPU and waits that are not idle */
    const struct oracle_wait **waits; /* [wait_count]: only class and event */
    uint64_t *wait_ns;                /* [wait_count] */
    size_t wait_count, wait_capacity;
};

void oracle_times_release(struct oracle_times *times);

/* Finds the same session in an earlier snapshot; NULL: it is not there. */
const struct oracle_session *oracle_times_before(const struct oracle_snapshot *before,
                                                 const struct oracle_session *session);

/* Resolves which wait was in flight in the later snapshot, where the next interval starts, and
 * fills *times, reusing its memory. CAMP_OK or CAMP_E_NOMEM. */
int oracle_times_fill(struct oracle_times *times, const struct oracle_snapshot *before,
                      const struct oracle_session *earlier, const struct oracle_snapshot *after,
                      struct oracle_session *session);
