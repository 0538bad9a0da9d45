#include "oracle_times.h"

#include "ledger/array.h"
#include "ledger/frame.h"

#include <stdlib.h>
#include <string.h>

void oracle_times_release(struct oracle_times *times)
{
    free(times->waits);
    free(times->wait_ns);
    *times = (struct oracle_times){ 0 };
}

static int compare_sids(const void *a, const void *b)
{
    const struct oracle_session *left = a, *right = b;

    return left->sid < right->sid ? -1 : left->sid > right->sid;
}

const struct oracle_session *oracle_times_before(const struct oracle_snapshot *before,
                                                 const struct oracle_session *session)
{
    const struct oracle_session *found =
        ARRAY_FIND(session, before->sessions, before->count, compare_sids);

    return found != NULL && strcmp(found->serial, session->serial) == 0 &&
                   strcmp(found->logon, session->logon) == 0
               ? found
               : NULL;
}

static int compare(const void *a, const void *b)
{
    return oracle_wait_compare(a, b);
}

/* Returns the session's finished waits of the class and event of `wait`, or all zero if there are
 * none. */
static struct oracle_wait finished(const struct oracle_snapshot *snapshot,
                                   const struct oracle_session *session,
                                   const struct oracle_wait *wait)
{
    const struct oracle_wait *known =
        ARRAY_FIND(wait, snapshot->waits + session->first_wait, session->wait_count, compare);

    return known != NULL ? *known : (struct oracle_wait){ 0 };
}

static bool is_same_wait(const struct oracle_session *left, const struct oracle_session *right)
{
    return left->certainty != ORACLE_NO_WAIT && right->certainty != ORACLE_NO_WAIT &&
           oracle_wait_compare(&left->wait, &right->wait) == 0;
}

/* session->wait has ended while the snapshot `after` was read. Returns true if `now`, the finished
 * waits of `after` for the same event, include it. `then` are the finished waits of `before`.
 *
 * It is included if it began before before->at_ns and there are more finished waits than then. If
 * it began later, another wait for the event, which was in flight in `before`, must be among the
 * new ones. It is included if there are still more, and if their time is at least its own length.
 */
static bool has_finished(const struct oracle_snapshot *before, const struct oracle_session *earlier,
                         const struct oracle_wait *then, const struct oracle_wait *now,
                         const struct oracle_snapshot *after, const struct oracle_session *session)
{
    uint64_t count = now->count - then->count, ns = counted_since(then->ns, now->ns);

    if (session->wait_begin_ns < before->at_ns)
        return count > 0;
    if (count > 0 && is_same_wait(earlier, session) && earlier->wait_begin_ns < before->at_ns) {
        const uint64_t least = before->at_ns - earlier->wait_begin_ns;

        count--;
        ns -= least < ns ? least : ns;
    }
    return count > 0 && ns >= after->at_ns - session->wait_begin_ns;
}

static void resolve_flight(const struct oracle_snapshot *before,
                           const struct oracle_session *earlier,
                           const struct oracle_snapshot *after, struct oracle_session *session)
{
    const struct oracle_wait then = finished(before, earlier, &session->wait);
    const struct oracle_wait now = finished(after, session, &session->wait);

    if (session->wait_begin_ns >= after->at_ns)
        session->certainty = ORACLE_NO_WAIT;
    if (session->certainty == ORACLE_MAY_BE_ENDED)
        session->certainty = has_finished(before, earlier, &then, &now, after, session)
                                 ? ORACLE_NO_WAIT
                                 : ORACLE_IN_FLIGHT;
    /* Each snapshot computes the start of a wait a little differently. If a wait is in flight in
     * both snapshots, its start in `before` is used for both. */
    if (now.count == then.count && is_same_wait(earlier, session) &&
        session->wait_begin_ns < before->at_ns)
        session->wait_begin_ns = earlier->wait_begin_ns;
}

/* Returns the time of a session's waits for the event of `wait` up to a snapshot: finished waits
 * plus the wait in flight. */
static int64_t time_of(const struct oracle_snapshot *snapshot, const struct oracle_session *session,
                       const struct oracle_wait *wait)
{
    const struct oracle_wait known = finished(snapshot, session, wait);
    const bool in_flight =
        session->certainty == ORACLE_IN_FLIGHT && oracle_wait_compare(&session->wait, wait) == 0;

    return (int64_t)known.ns +
           (in_flight ? (int64_t)(snapshot->at_ns - session->wait_begin_ns) : 0);
}

static bool add_wait(struct oracle_times *times, const struct oracle_wait *wait, int64_t ns)
{
    if (ns <= 0)
        return true;
    if (!ARRAYS_RESERVE(times->wait_capacity, times->wait_count + 1, ARRAY(times->waits),
                        ARRAY(times->wait_ns)))
        return false;
    times->waits[times->wait_count] = wait;
    times->wait_ns[times->wait_count++] = (uint64_t)ns;
    return true;
}

static bool add_waits(struct oracle_times *times, const struct oracle_snapshot *before,
                      const struct oracle_session *earlier, const struct oracle_snapshot *after,
                      const struct oracle_session *session)
{
    bool good = true, is_flight_listed = session->certainty != ORACLE_IN_FLIGHT;

    for (size_t i = 0; good && i < session->wait_count; i++) {
        const struct oracle_wait *wait = &after->waits[session->first_wait + i];

        is_flight_listed |= oracle_wait_compare(wait, &session->wait) == 0;
        good =
            add_wait(times, wait, time_of(after, session, wait) - time_of(before, earlier, wait));
    }
    /* The first wait for an event has no row of finished waits yet. */
    if (good && !is_flight_listed)
        good = add_wait(times, &session->wait,
                        time_of(after, session, &session->wait) -
                            time_of(before, earlier, &session->wait));
    return good;
}

/* Sets CPU and run queue time from the operating system if possible. The run queue time is at most
 * the time that CPU time and waits leave (oracle_times.h). */
static void account_clock(struct oracle_times *times, const struct oracle_session *earlier,
                          const struct oracle_session *session)
{
    uint64_t accounted_ns;

    times->has_clock = earlier->has_clock && session->has_clock && earlier->spid == session->spid;
    times->cpu_ns =
        times->has_clock ? counted_since(earlier->cpu_ns, session->cpu_ns) : times->reported_cpu_ns;
    if (!times->has_clock)
        return;
    accounted_ns = times->cpu_ns;
    for (size_t i = 0; i < times->wait_count; i++)
        accounted_ns += times->wait_ns[i];
    times->run_queue_ns = counted_since(earlier->run_queue_ns, session->run_queue_ns);
    if (accounted_ns + times->run_queue_ns > times->elapsed_ns)
        times->run_queue_ns =
            times->elapsed_ns > accounted_ns ? times->elapsed_ns - accounted_ns : 0;
}

/* Returns DB time minus DB CPU and minus waits that are not idle. The result is mostly the wait for
 * a CPU. It is negative if the times of the database disagree. */
static int64_t unexplained(const struct oracle_snapshot *snapshot,
                           const struct oracle_session *session)
{
    uint64_t ns = session->db_time_ns - session->db_cpu_ns;

    for (size_t i = 0; i < session->wait_count; i++) {
        const struct oracle_wait *wait = &snapshot->waits[session->first_wait + i];

        if (strcmp(wait->class, "Idle") != 0)
            ns -= (uint64_t)time_of(snapshot, session, wait);
    }
    return (int64_t)ns;
}

/* Sets reported_run_queue_ns to the growth of unexplained(). Oracle updates waits at once, but DB
 * time only about every 5 s, so unexplained() falls between two updates of DB time. So only growth
 * beyond the former maximum of unexplained() counts. */
static void report_run_queue(struct oracle_times *times, const struct oracle_snapshot *before,
                             const struct oracle_session *earlier,
                             const struct oracle_snapshot *after, struct oracle_session *session)
{
    const int64_t then = unexplained(before, earlier), now = unexplained(after, session);
    const int64_t maximum = then > earlier->reported_queue_ns ? then : earlier->reported_queue_ns;

    session->reported_queue_ns = now > maximum ? now : maximum;
    times->reported_run_queue_ns = (uint64_t)session->reported_queue_ns - (uint64_t)maximum;
}

int oracle_times_fill(struct oracle_times *times, const struct oracle_snapshot *before,
                      const struct oracle_session *earlier, const struct oracle_snapshot *after,
                      struct oracle_session *session)
{
    resolve_flight(before, earlier, after, session);
    times->session = session;
    times->is_known = earlier->certainty != ORACLE_MAY_BE_ENDED;
    times->elapsed_ns = counted_since(before->at_ns, after->at_ns);
    times->run_queue_ns = 0;
    times->reported_cpu_ns = counted_since(earlier->db_cpu_ns, session->db_cpu_ns);
    times->wait_count = 0;
    if (!add_waits(times, before, earlier, after, session))
        return CAMP_E_NOMEM;
    account_clock(times, earlier, session);
    report_run_queue(times, before, earlier, after, session);
    return CAMP_OK;
}
