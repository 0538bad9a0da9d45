/* Tests the comparison of session times that a database reports with the measured times. */
#include "commands/check/check_sessions.h"
#include "sources/sessions/session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char rules[] = "contention lock class=Lock\n"
                            "wait io class=IO\n"
                            "idle client class=Client\n";

#define MS 1000000u

static void open_frame(struct session_frame *sessions, bool detail, bool has_reported)
{
    const struct session_plan plan = {
        .name = "postgres",
        .detail = detail,
        .has_reported = has_reported,
        .cpu_provenance = CAMP_MEASURED,
        .wait_provenance = CAMP_SAMPLED,
        .rules_text = rules,
    };
    struct camp_error error = { 0 };

    assert_int_equal(session_frame_init(sessions, &plan, &error), CAMP_OK);
    session_frame_begin(sessions, 0, 1000 * MS, 0);
}

/* Adds a session of one second. `ms` has the times on a CPU, in the run queue, in waits for a
 * lock, in waits for I/O, and idle. The rest of the second is unaccounted. */
static void add(struct session_frame *sessions, int64_t id, const uint64_t ms[5],
                const uint64_t reported_ms[5])
{
    const struct session_time times[] = {
        { { { "Lock", "tuple", "active", "client" } }, ms[2] * MS },
        { { { "IO", "WALSync", "active", "client" } }, ms[3] * MS },
        { { { "Client", "ClientRead", "idle", "client" } }, ms[4] * MS },
    };
    struct session session = { .entity = { .id = id, .count = 1 },
                               .elapsed_ns = 1000 * MS,
                               .cpu_ns = ms[0] * MS,
                               .run_queue_ns = ms[1] * MS,
                               .times = times,
                               .time_count = 3 };

    for (int i = 0; i < SESSION_STATE_COUNT; i++)
        session.reported_ns[i] = reported_ms[i] * MS;
    assert_int_equal(session_frame_add(sessions, &session), CAMP_OK);
}

/* Adds two sessions. The database reports their time in the run queue as time in other states.
 * The errors of the two sessions in the state wait cancel out in the sum, but not in the RMS. */
static void add_two(struct session_frame *sessions)
{
    add(sessions, 1, (const uint64_t[]){ 300, 400, 100, 100, 50 },
        (const uint64_t[]){ 700, 0, 100, 150, 50 });
    add(sessions, 2, (const uint64_t[]){ 100, 0, 0, 100, 800 },
        (const uint64_t[]){ 200, 0, 0, 50, 750 });
}

static void check_sums(bool detail)
{
    struct session_frame sessions;
    struct reported_columns columns;
    struct reported_error error = { 0 };

    open_frame(&sessions, detail, true);
    add_two(&sessions);
    assert_true(reported_columns_find(&columns, &sessions.schema));
    reported_error_add(&error, &columns, &sessions.frame);
    assert_int_equal(error.sessions, 2);
    assert_float_equal(error.session_s, 2, 1e-9);
    assert_float_equal(error.sums[SESSION_CPU].measured_ns, 400. * MS, 1);
    assert_float_equal(error.sums[SESSION_CPU].reported_ns, 900. * MS, 1);
    assert_float_equal(reported_error_rms(&error, SESSION_CPU), sqrt((400. * 400 + 100. * 100) / 2),
                       1e-6);
    assert_float_equal(error.sums[SESSION_WAIT].measured_ns, 200. * MS, 1);
    assert_float_equal(error.sums[SESSION_WAIT].reported_ns, 200. * MS, 1);
    assert_float_equal(reported_error_rms(&error, SESSION_WAIT), 50, 1e-6);
    assert_float_equal(reported_error_rms(&error, SESSION_RUN_QUEUE), sqrt(400. * 400 / 2), 1e-6);
    assert_float_equal(reported_error_rms(&error, SESSION_CONTENTION), 0, 1e-6);
    assert_float_equal(error.sums[REPORTED_UNACCOUNTED].measured_ns, 50. * MS, 1);
    assert_float_equal(error.sums[REPORTED_UNACCOUNTED].reported_ns, 0, 1);
    session_frame_release(&sessions);
}

static void errors_of_sessions_cancel_out_in_a_sum_but_not_in_the_rms(void **state)
{
    (void)state;
    check_sums(false);
}

static void the_option_detail_does_not_change_the_sums_of_sessions(void **state)
{
    (void)state;
    check_sums(true);
}

static void the_reported_session_count_is_the_highest_of_all_intervals(void **state)
{
    struct session_frame sessions;
    struct reported_columns columns;
    struct reported_error error = { 0 };

    (void)state;
    open_frame(&sessions, false, true);
    reported_columns_find(&columns, &sessions.schema);
    add_two(&sessions);
    reported_error_add(&error, &columns, &sessions.frame);
    session_frame_begin(&sessions, 0, 1000 * MS, 0);
    reported_error_add(&error, &columns, &sessions.frame);
    assert_int_equal(error.sessions, 2);
    session_frame_release(&sessions);
}

static void fill(struct document *record, const struct reported_error *error,
                 const struct frame *frame, const struct from_facts *facts)
{
    const struct sessions_interval interval = { .time = "now", .length_s = 1 };

    check_sessions_fill(record, error, frame, &interval, facts);
    assert_false(record->failed);
}

static void without_sessions_a_note_replaces_the_table_of_errors(void **state)
{
    const struct from_facts facts = { .name = "postgres:db", .tier = "bpf" };
    const struct reported_error none = { 0 };
    struct document record = { 0 };
    struct session_frame sessions;

    (void)state;
    open_frame(&sessions, false, true);
    fill(&record, &none, &sessions.frame, &facts);
    assert_true(record.tables[1].hidden_in_text);
    assert_string_equal(record.notes[0], "No session: nothing to compare.");
    session_frame_release(&sessions);
    document_release(&record);
}

/* The second session lasts a tenth of the first session, so its weight is a tenth. */
static void the_error_of_a_session_is_weighted_by_the_time_of_the_session(void **state)
{
    struct session_frame sessions;
    struct reported_columns columns;
    struct reported_error error = { 0 };

    (void)state;
    open_frame(&sessions, false, true);
    add_two(&sessions);
    sessions.frame.elapsed_ns[1] = 100 * MS;
    reported_columns_find(&columns, &sessions.schema);
    reported_error_add(&error, &columns, &sessions.frame);
    /* Adding the same frame again does not change the mean. */
    reported_error_add(&error, &columns, &sessions.frame);
    assert_float_equal(error.session_s, 2.2, 1e-9);
    assert_float_equal(reported_error_rms(&error, SESSION_CPU),
                       sqrt((400. * 400 * 1 + 1000. * 1000 * 0.1) / 1.1), 1e-6);
    session_frame_release(&sessions);
}

static void frames_without_times_reported_by_the_database_are_not_compared(void **state)
{
    static const struct column columns[] = {
        { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED },
        { "reported_cpu_ns", "reported", "", COLUMN_COUNTER, CAMP_SAMPLED },
    };
    static const struct schema threads = { "threads", columns, 2, 1 };
    struct session_frame sessions;
    struct reported_columns found;

    (void)state;
    open_frame(&sessions, false, false);
    assert_false(reported_columns_find(&found, &sessions.schema));
    assert_false(reported_columns_find(&found, &threads));
    session_frame_release(&sessions);
}

static const struct cell *cell_at(const struct document *record, size_t row, size_t column)
{
    return &record->tables[1].cells[row * record->tables[1].field_count + column];
}

static void check_cell(const struct document *record, size_t row, size_t column, double expected)
{
    const struct cell *cell = cell_at(record, row, column);

    assert_int_equal(cell->kind, CELL_REAL);
    assert_float_equal(cell->real, expected, 1e-6);
}

static void camp_check_shows_an_error_for_each_state_of_the_sessions(void **state)
{
    const struct from_facts facts = { .name = "postgres:db", .tier = "schedstat+memory" };
    struct document record = { 0 };
    struct session_frame sessions;
    struct reported_columns columns;
    struct reported_error error = { 0 };

    (void)state;
    open_frame(&sessions, false, true);
    add_two(&sessions);
    reported_columns_find(&columns, &sessions.schema);
    reported_error_add(&error, &columns, &sessions.frame);
    fill(&record, &error, &sessions.frame, &facts);
    check_cell(&record, SESSION_CPU, 1, 0.4);
    check_cell(&record, SESSION_CPU, 2, 20);
    check_cell(&record, SESSION_CPU, 4, 45);
    check_cell(&record, SESSION_CPU, 5, 25);
    check_cell(&record, SESSION_CPU, 6, 125);
    check_cell(&record, SESSION_RUN_QUEUE, 6, -100);
    assert_int_equal(cell_at(&record, SESSION_CPU, 5)->emphasis, BAD);
    check_cell(&record, REPORTED_UNACCOUNTED, 5, -2.5);
    assert_int_equal(cell_at(&record, REPORTED_UNACCOUNTED, 6)->kind, CELL_UNKNOWN);
    assert_non_null(strstr(record.notes[0], "the other states are sampled too"));
    assert_string_equal(record.record.headline,
                        "now  1.00 s  postgres:db  tier schedstat+memory  2 "
                        "sessions, 2.0 session-seconds");
    session_frame_release(&sessions);
    document_release(&record);
}

/* The scheduler measured 1.2 s of sleep in 2 s, but the samples show 1.5 s of sleep. */
static void a_note_compares_sampled_sleep_with_measured_sleep(void **state)
{
    const struct from_facts facts = { .name = "postgres:db", .tier = "schedstat+memory" };
    const struct session_plan plan = { .name = "postgres",
                                       .has_reported = true,
                                       .has_sampled = true,
                                       .cpu_provenance = CAMP_MEASURED,
                                       .wait_provenance = CAMP_SCALED,
                                       .rules_text = rules };
    struct document record = { 0 };
    struct session_frame sessions;
    struct reported_columns columns;
    struct reported_error error = { 0 };

    (void)state;
    assert_int_equal(session_frame_init(&sessions, &plan, NULL), CAMP_OK);
    add_two(&sessions);
    frame_values(&sessions.frame, 0)[sessions.sampled_column] = 500 * MS;
    frame_values(&sessions.frame, 1)[sessions.sampled_column] = 1000 * MS;
    assert_true(reported_columns_find(&columns, &sessions.schema));
    reported_error_add(&error, &columns, &sessions.frame);
    fill(&record, &error, &sessions.frame, &facts);
    assert_non_null(strstr(record.notes[0], "what is left, divided as samples saw it"));
    assert_non_null(strstr(record.notes[0], "saw 75.00 % asleep, where 60.00 % was left"));
    session_frame_release(&sessions);
    document_release(&record);
}

/* 8 us are measured, and 120 ms are reported. The difference of 15 percentage points is
 * meaningful, but a relative error of 1,499,900 % is not. */
static void a_state_with_a_measured_time_near_zero_has_no_relative_error(void **state)
{
    const struct from_facts facts = { .name = "postgres:db", .tier = "bpf" };
    const struct reported_error error = {
        .session_s = 0.8,
        .sums = { [SESSION_WAIT] = { 8000, 120e6, 0 }, [SESSION_IDLE] = { 0.0011 * 800e6, 0, 0 } }
    };
    struct document record = { 0 };
    struct session_frame sessions;

    (void)state;
    open_frame(&sessions, false, true);
    fill(&record, &error, &sessions.frame, &facts);
    check_cell(&record, SESSION_WAIT, 5, 100 * 119.992 / 800);
    assert_int_equal(cell_at(&record, SESSION_WAIT, 5)->emphasis, BAD);
    assert_int_equal(cell_at(&record, SESSION_WAIT, 6)->kind, CELL_UNKNOWN);
    check_cell(&record, SESSION_IDLE, 6, -100);
    session_frame_release(&sessions);
    document_release(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_sessions_cancel_out_in_a_sum_but_not_in_the_rms),
        cmocka_unit_test(the_option_detail_does_not_change_the_sums_of_sessions),
        cmocka_unit_test(the_reported_session_count_is_the_highest_of_all_intervals),
        cmocka_unit_test(without_sessions_a_note_replaces_the_table_of_errors),
        cmocka_unit_test(the_error_of_a_session_is_weighted_by_the_time_of_the_session),
        cmocka_unit_test(frames_without_times_reported_by_the_database_are_not_compared),
        cmocka_unit_test(camp_check_shows_an_error_for_each_state_of_the_sessions),
        cmocka_unit_test(a_note_compares_sampled_sleep_with_measured_sleep),
        cmocka_unit_test(a_state_with_a_measured_time_near_zero_has_no_relative_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
