/*
 * What a session of Oracle did between two looks at it. Pure arithmetic.
 *
 * The time of an event is what has finished and what is in flight; between two looks it is the
 * difference of the two sums. So a wait that lasts over many looks is booked as it goes, and what
 * was booked of it is taken off when it ends and is among the finished ones. When it ends while a
 * look is being taken, the number of finished waits says on which side it is; where even that
 * leaves it open, it is taken for finished: never counted twice.
 *
 * Waits contain the time from being woken to getting a CPU: the process looks at the clock before
 * and after its sleep. The run queue of the operating system contains that time as well. So of the
 * run queue only that is booked which has room beside CPU time and waits.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ORACLE_TIMES_H
#define CAMP_SOURCES_SESSIONS_ODBC_ORACLE_TIMES_H

#include "oracle_look.h"

/* A session in both looks, and what it did in between. */
struct oracle_times {
    const struct oracle_session *session; /* of the second look */
    bool is_known; /* false: what was in flight at the first look was not known for certain */
    bool has_clock;
    uint64_t elapsed_ns;
    uint64_t cpu_ns; /* of the operating system; without has_clock reported_cpu_ns */
    uint64_t run_queue_ns;
    uint64_t reported_cpu_ns;         /* DB CPU, written down every 5 s or so */
    uint64_t reported_run_queue_ns;   /* DB time less DB CPU and waits that are not idle */
    const struct oracle_wait **waits; /* [wait_count]: class and event */
    uint64_t *wait_ns;                /* [wait_count] */
    size_t wait_count, wait_capacity;
};

void oracle_times_release(struct oracle_times *times);

/* The same session in an earlier look; NULL: it was not there. */
const struct oracle_session *oracle_times_before(const struct oracle_look *before,
                                                 const struct oracle_session *session);

/* Settles what was in flight at the later look, which the next one begins with, and fills *times,
 * whose memory is used again. CAMP_OK or CAMP_E_NOMEM. */
int oracle_times_fill(struct oracle_times *times, const struct oracle_look *before,
                      const struct oracle_session *earlier, const struct oracle_look *after,
                      struct oracle_session *session);

#endif
