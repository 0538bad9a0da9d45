/*
 * What a session of Oracle did between two snapshots. The functions do no I/O.
 *
 * In a snapshot, the time of an event is the sum of its finished waits and the wait in flight. An
 * interval gets the difference between the sums of its two snapshots. So a wait that lasts for many
 * snapshots is accounted in each interval, and is not accounted again when it finishes.
 *
 * If a wait ends while a snapshot is read, the number and the time of the finished waits show
 * whether the wait is among them. If they leave this open, the wait counts as finished, so that no
 * time is accounted twice.
 *
 * A wait of Oracle lasts until the process runs again, so it includes the time from waking to
 * running. The run queue time of the operating system also includes this time. To account it only
 * once, the run queue gets at most the time that CPU time and waits leave.
 */
#pragma once

#include "oracle_snapshot.h"

struct oracle_times {
    const struct oracle_session *session; /* from the later snapshot */
    bool is_known; /* false if the earlier snapshot leaves open whether a wait had ended */
    bool has_clock;
    uint64_t elapsed_ns;
    uint64_t cpu_ns; /* equal to reported_cpu_ns if has_clock is false */
    uint64_t run_queue_ns;
    uint64_t reported_cpu_ns;         /* DB CPU, written about every 5 s */
    uint64_t reported_run_queue_ns;   /* DB time minus DB CPU, minus waits that are not idle */
    const struct oracle_wait **waits; /* [wait_count]; only class and event are used */
    uint64_t *wait_ns;                /* [wait_count] */
    size_t wait_count, wait_capacity;
};

void oracle_times_release(struct oracle_times *times);

/* Returns the session of `before` that is the same as `session`, which is from a later snapshot.
 * Returns NULL if there is none. */
const struct oracle_session *oracle_times_before(const struct oracle_snapshot *before,
                                                 const struct oracle_session *session);

/* Fills *times, reusing its memory, from a session in two snapshots: `earlier` in `before`, and
 * `session` in `after`. If session->certainty is ORACLE_MAY_BE_ENDED, sets it to ORACLE_NO_WAIT or
 * ORACLE_IN_FLIGHT, which the next interval needs. Returns CAMP_OK or CAMP_E_NOMEM. */
int oracle_times_fill(struct oracle_times *times, const struct oracle_snapshot *before,
                      const struct oracle_session *earlier, const struct oracle_snapshot *after,
                      struct oracle_session *session);
