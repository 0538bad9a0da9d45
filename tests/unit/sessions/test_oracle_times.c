/* The time of an Oracle session between two snapshots. */
#include "sources/sessions/odbc/oracle_times.h"

#include "counters/units.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS NS_PER_MS

/* A snapshot with one session. waits[] is in the order of class and event. */
struct moment {
    struct oracle_session session;
    struct oracle_wait waits[3];
    struct oracle_snapshot snapshot;
};

static struct oracle_wait wait_of(const char *class, const char *event, uint64_t ms, uint64_t count)
{
    struct oracle_wait wait = { .sid = 1, .ns = ms * MS, .count = count };

    snprintf(wait.class, sizeof wait.class, "%s", class);
    snprintf(wait.event, sizeof wait.event, "%s", event);
    return wait;
}

/* Makes a snapshot at `at_ms`. The session has finished waits for a lock and for a read, with these
 * total times and counts. */
static void set(struct moment *moment, uint64_t at_ms, uint64_t lock_ms, uint64_t locks,
                uint64_t read_ms, uint64_t reads)
{
    memset(moment, 0, sizeof *moment);
    moment->session = (struct oracle_session){
        .sid = 1, .serial = "7", .logon = "then", .wait_count = 2, .reported_queue_ns = INT64_MIN
    };
    moment->waits[0] = wait_of("Application", "enq", lock_ms, locks);
    moment->waits[1] = wait_of("User_I/O", "read", read_ms, reads);
    moment->snapshot = (struct oracle_snapshot){ .sessions = &moment->session,
                                                 .count = 1,
                                                 .waits = moment->waits,
                                                 .wait_count = 2,
                                                 .at_ns = at_ms * MS };
}

static void waits_for(struct moment *moment, enum oracle_certainty certainty, const char *class,
                      const char *event, uint64_t since_ms)
{
    moment->session.certainty = certainty;
    moment->session.wait = wait_of(class, event, 0, 0);
    moment->session.wait_begin_ns = since_ms * MS;
}

static uint64_t booked_ms(const struct oracle_times *times, const char *event)
{
    for (size_t i = 0; i < times->wait_count; i++) {
        if (strcmp(times->waits[i]->event, event) == 0)
            return times->wait_ns[i] / MS;
    }
    return 0;
}

static struct oracle_times since(const struct moment *before, struct moment *after)
{
    struct oracle_times times = { 0 };

    assert_int_equal(oracle_times_fill(&times, &before->snapshot, &before->session,
                                       &after->snapshot, &after->session),
                     CAMP_OK);
    return times;
}

static void a_wait_that_lasts_several_intervals_is_accounted_once(void **state)
{
    struct moment moments[4];
    const uint64_t expected[] = { 1000, 1000, 300 };

    (void)state;
    /* The session waits for a lock from 500 to 3300 ms. */
    for (size_t i = 0; i < 4; i++) {
        set(&moments[i], 1000 + 1000 * i, i < 3 ? 40 : 2840, i < 3 ? 2 : 3, 0, 0);
        if (i < 3)
            waits_for(&moments[i], ORACLE_IN_FLIGHT, "Application", "enq", 500);
    }
    moments[1].session.wait_begin_ns += 7 * MS; /* the clocks of two snapshots may disagree */
    for (size_t i = 0; i < 3; i++) {
        struct oracle_times times = since(&moments[i], &moments[i + 1]);

        assert_true(times.is_known);
        assert_int_equal(booked_ms(&times, "enq"), expected[i]);
        assert_int_equal(times.wait_count, 1);
        oracle_times_release(&times);
    }
}

static void the_first_wait_for_an_event_is_accounted_while_it_lasts(void **state)
{
    struct moment before, after;
    struct oracle_times times;

    (void)state;
    set(&before, 1000, 0, 0, 0, 0);
    set(&after, 2000, 0, 0, 0, 0);
    waits_for(&after, ORACLE_IN_FLIGHT, "Commit", "sync", 1800);
    times = since(&before, &after);
    assert_int_equal(booked_ms(&times, "sync"), 200);
    oracle_times_release(&times);
}

static void a_wait_that_ends_during_a_snapshot_is_accounted_once(void **state)
{
    static const struct {
        /* In the second snapshot: when the wait that the session shows began, and the total time
         * and the number of the finished waits for the lock. */
        uint64_t begin_ms, finished_ms, finished;
        uint64_t booked_ms;
        uint64_t
            before_ms; /* when a wait began that was in flight in the first snapshot; 0: none */
    } cases[] = {
        /* No further wait has finished, so the wait that the session shows is in flight. */
        { 500, 40, 2, 1000, 500 },
        /* A wait that began before the first snapshot has finished. It is the wait that the session
         * shows. */
        { 500, 1530, 3, 990, 500 },
        /* A wait has finished that may be the wait that the session shows. That wait counts as
         * finished. */
        { 1100, 940, 3, 900 },
        /* The finished wait is too short to be the wait that the session shows. That wait is in
         * flight. */
        { 1100, 90, 3, 950 },
        /* The wait of the first snapshot has finished, which is longer. No other has, so the wait
         * that the session shows is in flight. */
        { 1617, 874, 3, 776, 559 },
        /* Both have finished. */
        { 1617, 1257, 4, 776, 559 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct moment before, after;
        struct oracle_times times;

        set(&before, 1000, 40, 2, 0, 0);
        if (cases[i].before_ms > 0)
            waits_for(&before, ORACLE_IN_FLIGHT, "Application", "enq", cases[i].before_ms);
        set(&after, 2000, cases[i].finished_ms, cases[i].finished, 0, 0);
        waits_for(&after, ORACLE_MAY_BE_ENDED, "Application", "enq", cases[i].begin_ms);
        times = since(&before, &after);
        assert_in_range(booked_ms(&times, "enq"), cases[i].booked_ms, cases[i].booked_ms + 10);
        oracle_times_release(&times);
    }
}

static void no_interval_starts_at_a_snapshot_with_an_uncertain_wait(void **state)
{
    struct moment before, after, last;
    struct oracle_times times;

    (void)state;
    set(&before, 1000, 40, 2, 0, 0);
    waits_for(&before, ORACLE_MAY_BE_ENDED, "Application", "enq", 10);
    set(&after, 2000, 1030, 3, 0, 0);
    times = since(&before, &after);
    assert_false(times.is_known);
    oracle_times_release(&times);
    set(&last, 3000, 1030, 3, 0, 0);
    times = since(&after, &last);
    assert_true(times.is_known);
    oracle_times_release(&times);
}

static void a_session_with_another_serial_or_logon_time_is_another_session(void **state)
{
    struct moment before, after;

    (void)state;
    set(&before, 1000, 0, 0, 0, 0);
    set(&after, 2000, 0, 0, 0, 0);
    assert_ptr_equal(oracle_times_before(&before.snapshot, &after.session), &before.session);
    strcpy(after.session.serial, "8");
    assert_null(oracle_times_before(&before.snapshot, &after.session));
    strcpy(after.session.serial, "7");
    strcpy(after.session.logon, "later");
    assert_null(oracle_times_before(&before.snapshot, &after.session));
    after.session.sid = 2;
    assert_null(oracle_times_before(&before.snapshot, &after.session));
}

/* The database counts the time from waking to running as part of the wait. The scheduler counts it
 * as time in the run queue. */
static void the_run_queue_gets_at_most_the_time_that_cpu_and_waits_leave(void **state)
{
    struct moment before, after;
    struct oracle_times times;

    (void)state;
    set(&before, 1000, 0, 0, 0, 0);
    set(&after, 2000, 0, 0, 500, 5);
    before.session.has_clock = after.session.has_clock = true;
    after.session.cpu_ns = 300 * MS;
    after.session.run_queue_ns = 150 * MS;
    after.session.db_cpu_ns = 444 * MS;
    times = since(&before, &after);
    assert_int_equal(times.cpu_ns, 300 * MS);
    assert_int_equal(times.run_queue_ns, 150 * MS);
    assert_int_equal(times.reported_cpu_ns, 444 * MS);
    oracle_times_release(&times);
    after.session.run_queue_ns = 350 * MS;
    times = since(&before, &after);
    assert_int_equal(times.run_queue_ns, 200 * MS);
    oracle_times_release(&times);
    /* The database itself reports more than the elapsed time. The row keeps the reported time. */
    after.waits[1].ns = 1200 * MS;
    times = since(&before, &after);
    assert_int_equal(times.run_queue_ns, 0);
    assert_int_equal(booked_ms(&times, "read"), 1200);
    oracle_times_release(&times);
    after.session.spid = 1;
    times = since(&before, &after);
    assert_false(times.has_clock);
    assert_int_equal(times.cpu_ns, 444 * MS);
    oracle_times_release(&times);
}

/* Each second has 200 ms on a CPU, 100 ms of a read and 50 ms in the run queue. DB time and DB CPU
 * are written every third second. */
static void db_time_beyond_db_cpu_and_waits_is_run_queue_time(void **state)
{
    struct moment moments[8];
    uint64_t reported_ns = 0;

    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        const uint64_t written = i / 3 * 3;

        set(&moments[i], 1000 * i, 0, 0, 100 * i, i);
        moments[i].session.db_cpu_ns = 200 * MS * written;
        moments[i].session.db_time_ns = 350 * MS * written;
    }
    for (size_t i = 0; i < 7; i++) {
        struct oracle_times times = since(&moments[i], &moments[i + 1]);

        reported_ns += times.reported_run_queue_ns;
        oracle_times_release(&times);
    }
    assert_int_equal(reported_ns, 6 * 50 * MS);
}

#define SESSIONS 50
#define PIECES 200
#define SNAPSHOTS 60

struct piece {
    double begin, end; /* in seconds */
    int event;         /* index in events[]; 0 means on a CPU */
};

static const char *const classes[] = { "", "Application", "Commit", "Idle", "User_I/O" };
static const char *const events[] = { "", "enq", "sync", "message", "read" };

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static void make_pieces(struct piece pieces[PIECES], uint64_t *seed)
{
    static const double means[] = { 0.02, 0.3, 3 };
    double at = 0;

    for (int i = 0; i < PIECES; i++) {
        const double mean = means[(int)(3 * uniform(seed))];

        pieces[i] = (struct piece){ at, at - mean * log(1 - uniform(seed)),
                                    i % 2 == 0 ? 0 : 1 + (int)(4 * uniform(seed)) };
        at = pieces[i].end;
    }
}

/* Fills a snapshot with the finished waits, the wait in flight, and DB CPU as of the last multiple
 * of 5 s. */
static void snapshot_at(const struct piece pieces[PIECES], double now,
                        struct oracle_session *session, struct oracle_wait waits[4], bool in_flight,
                        bool clock)
{
    const double written = floor(now / 5) * 5;

    *session = (struct oracle_session){
        .sid = 1, .wait_count = 4, .reported_queue_ns = INT64_MIN, .has_clock = clock
    };
    for (int i = 0; i < 4; i++)
        waits[i] = wait_of(classes[i + 1], events[i + 1], 0, 0);
    for (int i = 0; i < PIECES && pieces[i].begin < now; i++) {
        const struct piece *piece = &pieces[i];
        const double until = fmin(piece->end, now);

        if (piece->event == 0) {
            session->cpu_ns += (uint64_t)(1e9 * (until - piece->begin));
            session->db_cpu_ns += (uint64_t)(1e9 * fmax(0, fmin(until, written) - piece->begin));
        } else if (piece->end <= now) {
            waits[piece->event - 1].ns += (uint64_t)(1e9 * (piece->end - piece->begin));
            waits[piece->event - 1].count++;
        } else if (in_flight) {
            session->certainty = ORACLE_IN_FLIGHT;
            session->wait = waits[piece->event - 1];
            session->wait_begin_ns = (uint64_t)(1e9 * piece->begin);
        }
    }
}

/* Returns the root mean square of the unaccounted time, in ms per second. */
static double unaccounted_rms(bool in_flight, bool clock)
{
    double squares = 0;
    uint64_t seed = 1;

    for (int s = 0; s < SESSIONS; s++) {
        struct piece pieces[PIECES];
        struct oracle_session sessions[2];
        struct oracle_wait waits[2][4];
        struct oracle_snapshot snapshots[2];
        struct oracle_times times = { 0 };

        make_pieces(pieces, &seed);
        for (int i = 0; i <= SNAPSHOTS; i++) {
            const int at = i % 2;

            snapshot_at(pieces, 10.3 + i, &sessions[at], waits[at], in_flight, clock);
            snapshots[at] = (struct oracle_snapshot){ .sessions = &sessions[at],
                                                      .count = 1,
                                                      .waits = waits[at],
                                                      .wait_count = 4,
                                                      .at_ns = (uint64_t)(1e9 * (10.3 + i)) };
            if (i == 0)
                continue;
            assert_int_equal(oracle_times_fill(&times, &snapshots[1 - at], &sessions[1 - at],
                                               &snapshots[at], &sessions[at]),
                             CAMP_OK);
            {
                double accounted = (double)times.cpu_ns;

                for (size_t w = 0; w < times.wait_count; w++)
                    accounted += (double)times.wait_ns[w];
                squares += pow((1e9 - accounted) / 1e6, 2);
            }
        }
        oracle_times_release(&times);
    }
    return sqrt(squares / (SESSIONS * SNAPSHOTS));
}

static void unfinished_waits_and_the_kernel_cpu_clock_leave_no_time_unaccounted(void **state)
{
    const double naive = unaccounted_rms(false, false), in_flight = unaccounted_rms(true, false),
                 clock = unaccounted_rms(true, true);

    (void)state;
    print_message("unaccounted, RMS of 1 s: finished waits and DB CPU %.0f ms, with the wait in "
                  "flight %.0f, with the system's clock %.3f\n",
                  naive, in_flight, clock);
    assert_true(naive > 1.2 * in_flight);
    assert_true(in_flight > 200);
    assert_true(clock < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_that_lasts_several_intervals_is_accounted_once),
        cmocka_unit_test(the_first_wait_for_an_event_is_accounted_while_it_lasts),
        cmocka_unit_test(a_wait_that_ends_during_a_snapshot_is_accounted_once),
        cmocka_unit_test(no_interval_starts_at_a_snapshot_with_an_uncertain_wait),
        cmocka_unit_test(a_session_with_another_serial_or_logon_time_is_another_session),
        cmocka_unit_test(the_run_queue_gets_at_most_the_time_that_cpu_and_waits_leave),
        cmocka_unit_test(db_time_beyond_db_cpu_and_waits_is_run_queue_time),
        cmocka_unit_test(unfinished_waits_and_the_kernel_cpu_clock_leave_no_time_unaccounted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
