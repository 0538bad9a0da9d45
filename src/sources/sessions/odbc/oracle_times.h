/*
 * What a session of Oracle did between two snapshots. Pure arithmetic.
 *
 * The time of an event is the sum of its finished waits and the wait in flight. An interval has the
 * difference between the sums of two snapshots. So a wait that lasts over many snapshots is
 * accounted in each interval, and the accounted time is subtracted once the wait is among the
 * finished waits.
 *
 * If a wait ends during a snapshot, the number of finished waits shows whether the wait is among
 * them. If the number leaves this open, the wait counts as finished, so that no time is accounted
 * twice.
 *
 * A wait includes the time from waking to running, because the process reads the clock before and
 * after its sleep. The run queue time of the operating system also includes the time from waking to
 * running. So the run queue gets at most the time that CPU time and waits leave.
 */
#pragma once

#include "oracle_snapshot.h"

struct oracle_times {
    const struct oracle_session *session; /* from the second snapshot */
    bool is_known; /* false if the wait in flight in the first snapshot is uncertain */
    bool has_clock;
    uint64_t elapsed_ns;
    uint64_t cpu_ns; /* without has_clock equal to reported_cpu_ns */
    uint64_t run_queue_ns;
    uint64_t reported_cpu_ns;         /* DB CPU, written about every 5 s */
    uint64_t reported_run_queue_ns;   /* DB time minus DB CPU and waits that are not idle */
    const struct oracle_wait **waits; /* [wait_count]; only class and event are used */
    uint64_t *wait_ns;                /* [wait_count] */
    size_t wait_count, wait_capacity;
};

void oracle_times_release(struct oracle_times *times);

/* Returns the same session in an earlier snapshot, or NULL. */
const struct oracle_session *oracle_times_before(const struct oracle_snapshot *before,
                                                 const struct oracle_session *session);

/* Resolves which wait was in flight in the later snapshot, where the next interval starts. Fills
 * *times, reusing its memory. Returns CAMP_OK or CAMP_E_NOMEM. */
int oracle_times_fill(struct oracle_times *times, const struct oracle_snapshot *before,
                      const struct oracle_session *earlier, const struct oracle_snapshot *after,
                      struct oracle_session *session);
