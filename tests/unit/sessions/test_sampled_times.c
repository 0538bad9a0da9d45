/* Samples converted to times. Each nanosecond is accounted once; time that no sample covers is
 * unaccounted. */
#include "sources/sessions/sampled_times.h"

#include "../tree.h"

#include <string.h>

#define MS 1000000u
#define LONGEST (1000 * MS)

static struct session_sample sample(int64_t id, const char *event, bool is_asleep)
{
    return (struct session_sample){
        id, 1, 0, { { "Lock", event, "active", "client_backend" } }, is_asleep
    };
}

static void snapshot(struct sampled_times *times, uint64_t at_ms, const char *event, bool is_asleep)
{
    const struct session_sample one = sample(7, event, is_asleep);

    assert_int_equal(sampled_times_add(times, at_ms * MS, &one, event != NULL), CAMP_OK);
}

static const struct sampled_time *time_of(const struct sampled_session *session, const char *event)
{
    static const struct sampled_time none;

    for (size_t i = 0; i < session->time_count; i++) {
        if (strcmp(labels_value(session->times[i].kind, SESSION_EVENT), event) == 0)
            return &session->times[i];
    }
    return &none;
}

static uint64_t reported_sum(const struct sampled_session *session)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < session->time_count; i++)
        sum += session->times[i].reported_ns;
    return sum;
}

static void snapshot_of(struct sampled_times *times, uint64_t at_ms, int64_t statement)
{
    struct session_sample one = sample(7, "a", true);

    one.statement = statement;
    assert_int_equal(sampled_times_add(times, at_ms * MS, &one, 1), CAMP_OK);
}

static struct sampled_times begun(void)
{
    struct sampled_times times;

    sampled_times_init(&times, LONGEST);
    snapshot(&times, 1000, "a", true);
    sampled_times_begin(&times, 1000 * MS);
    return times;
}

static void each_sample_counts_for_the_statement_that_ran_then(void **state)
{
    struct sampled_times times = begun();
    const struct sampled_session *session = times.sessions[0];

    (void)state;
    snapshot_of(&times, 1100, 5);
    snapshot_of(&times, 1200, -6);
    snapshot_of(&times, 1300, 5);
    sampled_times_end(&times, 1300 * MS);
    assert_int_equal(session->time_count, 3);
    assert_int_equal(session->times[0].statement, 0);
    assert_int_equal(session->times[0].asleep_ns, 50 * MS);
    assert_int_equal(session->times[1].statement, 5);
    assert_int_equal(session->times[1].reported_ns, 150 * MS);
    assert_int_equal(session->times[2].statement, -6);
    assert_int_equal(session->times[2].asleep_ns, 100 * MS);
    sampled_times_release(&times);
}

static void the_time_between_two_snapshots_is_halved_between_their_states(void **state)
{
    struct sampled_times times = begun();

    (void)state;
    snapshot(&times, 1100, "a", true);
    snapshot(&times, 1200, "b", false);
    sampled_times_end(&times, 1200 * MS);
    assert_int_equal(times.sessions[0]->elapsed_ns, 200 * MS);
    assert_int_equal(time_of(times.sessions[0], "a")->reported_ns, 150 * MS);
    assert_int_equal(time_of(times.sessions[0], "b")->reported_ns, 50 * MS);
    assert_int_equal(time_of(times.sessions[0], "a")->asleep_ns, 150 * MS);
    assert_int_equal(time_of(times.sessions[0], "b")->asleep_ns, 0);
    sampled_times_release(&times);
}

static void the_times_of_living_sessions_start_at_zero_in_each_interval(void **state)
{
    struct sampled_times times = begun();

    (void)state;
    snapshot(&times, 1100, "b", true);
    sampled_times_end(&times, 1100 * MS);
    sampled_times_begin(&times, 1100 * MS);
    snapshot(&times, 1200, "b", true);
    sampled_times_end(&times, 1200 * MS);
    assert_int_equal(times.sessions[0]->elapsed_ns, 100 * MS);
    assert_int_equal(times.sessions[0]->time_count, 1);
    assert_int_equal(reported_sum(times.sessions[0]), 100 * MS);
    assert_false(times.sessions[0]->is_new);
    sampled_times_release(&times);
}

static void a_new_session_is_accounted_from_its_start(void **state)
{
    struct sampled_times times = begun();
    struct session_sample both[] = { sample(9, "b", true), sample(7, "a", true) };

    (void)state;
    both[0].start_ns = 1040 * MS;
    assert_int_equal(sampled_times_add(&times, 1100 * MS, both, 2), CAMP_OK);
    sampled_times_end(&times, 1100 * MS);
    assert_int_equal(times.sessions[1]->id, 9);
    assert_true(times.sessions[1]->is_new);
    assert_int_equal(times.arrived, 1);
    assert_int_equal(times.sessions[1]->elapsed_ns, 60 * MS);
    assert_int_equal(reported_sum(times.sessions[1]), 60 * MS);
    sampled_times_release(&times);
}

/* A sample of memory lacks the sessions that are not in the registry yet. */
static void a_session_missing_in_the_first_snapshot_is_accounted_from_its_start(void **state)
{
    struct sampled_times times = begun();
    struct session_sample both[] = { sample(7, "a", true), sample(9, "b", true) };

    (void)state;
    snapshot(&times, 1100, "a", true);
    both[1].start_ns = 1040 * MS;
    assert_int_equal(sampled_times_add(&times, 1200 * MS, both, 2), CAMP_OK);
    sampled_times_end(&times, 1200 * MS);
    assert_int_equal(times.sessions[1]->elapsed_ns, 160 * MS);
    assert_int_equal(reported_sum(times.sessions[1]), 160 * MS);
    sampled_times_release(&times);
}

static void an_ended_session_gets_half_of_the_time_after_its_last_snapshot(void **state)
{
    struct sampled_times times = begun();

    (void)state;
    snapshot(&times, 1100, "a", true);
    snapshot(&times, 1200, NULL, true);
    sampled_times_end(&times, 1300 * MS);
    assert_true(times.sessions[0]->is_ended);
    assert_int_equal(times.sessions[0]->elapsed_ns, 150 * MS);
    assert_int_equal(reported_sum(times.sessions[0]), 150 * MS);
    sampled_times_begin(&times, 1300 * MS);
    assert_int_equal(times.count, 0);
    sampled_times_release(&times);
}

static void a_session_that_one_snapshot_misses_has_not_ended_if_the_next_lists_it(void **state)
{
    struct sampled_times times = begun();

    (void)state;
    snapshot(&times, 1100, NULL, false);
    assert_true(times.sessions[0]->is_ended);
    snapshot(&times, 1200, "a", true);
    sampled_times_end(&times, 1200 * MS);
    assert_int_equal(times.count, 1);
    assert_false(times.sessions[0]->is_ended);
    assert_int_equal(times.sessions[0]->elapsed_ns, 200 * MS);
    assert_int_equal(reported_sum(times.sessions[0]), 200 * MS);
    sampled_times_release(&times);
}

static void a_pid_with_a_new_start_time_is_another_session(void **state)
{
    struct sampled_times times = begun();
    struct session_sample other = sample(7, "a", true);

    (void)state;
    other.start = 2;
    other.start_ns = 1080 * MS;
    assert_int_equal(sampled_times_add(&times, 1100 * MS, &other, 1), CAMP_OK);
    assert_int_equal(times.count, 2);
    assert_true(times.sessions[0]->is_ended);
    assert_int_equal(times.sessions[0]->elapsed_ns, 50 * MS);
    assert_int_equal(times.sessions[1]->elapsed_ns, 20 * MS);
    sampled_times_release(&times);
}

/* The server did not answer for 3 s, and samples cover only 1 s of that time. */
static void time_without_a_sample_counts_as_elapsed_but_unaccounted_time(void **state)
{
    struct sampled_times times = begun();

    (void)state;
    snapshot(&times, 4000, "a", true);
    sampled_times_end(&times, 4000 * MS);
    assert_int_equal(times.sessions[0]->elapsed_ns, 3000 * MS);
    assert_int_equal(reported_sum(times.sessions[0]), LONGEST);
    sampled_times_release(&times);
}

static void an_interval_without_a_snapshot_counts_as_elapsed_but_unaccounted_time(void **state)
{
    struct sampled_times times = begun();

    (void)state;
    sampled_times_end(&times, 1500 * MS);
    assert_int_equal(times.sessions[0]->elapsed_ns, 500 * MS);
    assert_int_equal(reported_sum(times.sessions[0]), 0);
    sampled_times_begin(&times, 1500 * MS);
    snapshot(&times, 1700, "a", true);
    sampled_times_end(&times, 1800 * MS);
    assert_int_equal(times.sessions[0]->elapsed_ns, 300 * MS);
    assert_int_equal(reported_sum(times.sessions[0]), 200 * MS);
    sampled_times_release(&times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_counts_for_the_statement_that_ran_then),
        cmocka_unit_test(the_time_between_two_snapshots_is_halved_between_their_states),
        cmocka_unit_test(the_times_of_living_sessions_start_at_zero_in_each_interval),
        cmocka_unit_test(a_new_session_is_accounted_from_its_start),
        cmocka_unit_test(a_session_missing_in_the_first_snapshot_is_accounted_from_its_start),
        cmocka_unit_test(an_ended_session_gets_half_of_the_time_after_its_last_snapshot),
        cmocka_unit_test(a_session_that_one_snapshot_misses_has_not_ended_if_the_next_lists_it),
        cmocka_unit_test(a_pid_with_a_new_start_time_is_another_session),
        cmocka_unit_test(time_without_a_sample_counts_as_elapsed_but_unaccounted_time),
        cmocka_unit_test(an_interval_without_a_snapshot_counts_as_elapsed_but_unaccounted_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
