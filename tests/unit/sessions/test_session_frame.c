/* Sessions in a frame, accounted by rules: columns, sums, detail, and the times that the database
 * reports. */
#include "sources/sessions/session.h"

#include "ledger/vertex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char rules[] = "contention lock class=Lock\n"
                            "wait io class=IO\n"
                            "idle client class=Client activity=idle\n"
                            "idle in_transaction class=Client\n";

static const struct session_time times[] = {
    { { { "Lock", "tuple", "active", "client" } }, 100 },
    { { { "IO", "WALSync", "active", "client" } }, 200 },
    { { { "Client", "ClientRead", "idle", "client" } }, 300 },
    { { { "Client", "ClientRead", "idle_in_transaction", "client" } }, 50 },
    { { { "IO", "DataFileRead", "active", "client" } }, 20 },
    { { { "Strange", "x", "active", "client" } }, 30 },
};

static const struct session one = {
    .entity = { .id = 7, .pid = 7, .count = 1, .name = "app@db" },
    .elapsed_ns = 1000,
    .cpu_ns = 150,
    .run_queue_ns = 150,
    .times = times,
    .time_count = sizeof times / sizeof times[0],
    .reported_ns = { 400, 0, 110, 210, 280 },
};

static void open_frame(struct session_frame *sessions, bool detail, bool reported)
{
    const struct session_plan plan = {
        .name = "postgres",
        .detail = detail,
        .has_reported = reported,
        .cpu_provenance = CAMP_MEASURED,
        .wait_provenance = CAMP_SAMPLED,
        .rules_text = rules,
    };
    struct camp_error error = { 0 };

    assert_int_equal(session_frame_init(sessions, &plan, &error), CAMP_OK);
    session_frame_begin(sessions, 10, 1010, 5);
    assert_int_equal(session_frame_add(sessions, &one), CAMP_OK);
}

static uint64_t value(const struct session_frame *sessions, const char *column)
{
    for (size_t i = 0; i < sessions->schema.column_count; i++) {
        if (strcmp(sessions->schema.columns[i].name, column) == 0)
            return frame_values(&sessions->frame, 0)[i];
    }
    fail_msg("there is no column %s", column);
    return 0;
}

static void time_of_a_wait_that_no_rule_matches_is_unaccounted(void **state)
{
    struct session_frame sessions;

    (void)state;
    open_frame(&sessions, false, true);
    assert_int_equal(sessions.schema.state_count, SESSION_STATE_COUNT);
    assert_int_equal(value(&sessions, "cpu_ns"), 150);
    assert_int_equal(value(&sessions, "run_queue_ns"), 150);
    assert_int_equal(value(&sessions, "contention_ns"), 100);
    assert_int_equal(value(&sessions, "wait_ns"), 220);
    assert_int_equal(value(&sessions, "idle_ns"), 350);
    assert_int_equal(value(&sessions, "contention_lock_ns"), 100);
    assert_int_equal(value(&sessions, "wait_io_ns"), 220);
    assert_int_equal(value(&sessions, "idle_in_transaction_ns"), 50);
    assert_int_equal(value(&sessions, "reported_cpu_ns"), 400);
    assert_int_equal(value(&sessions, "reported_idle_ns"), 280);
    assert_int_equal(frame_unaccounted_ns(&sessions.frame, 0), 30);
    assert_int_equal(session_frame_state(&sessions, &times[0].kind), SESSION_CONTENTION);
    assert_int_equal(session_frame_state(&sessions, &times[5].kind), SESSION_STATE_COUNT);
    session_frame_release(&sessions);
}

static void with_the_option_detail_each_column_of_the_rules_is_a_state(void **state)
{
    struct session_frame sessions;
    struct vertices vertices;
    struct weights weights;

    (void)state;
    open_frame(&sessions, true, false);
    assert_int_equal(sessions.schema.state_count, 2 + 4);
    /* The last column is the number of samples. */
    assert_int_equal(sessions.schema.column_count, 2 + 4 + 1);
    assert_string_equal(sessions.schema.columns[2].title, "lock");
    assert_string_equal(sessions.schema.columns[2].help, "contention: class=Lock");
    assert_int_equal(frame_unaccounted_ns(&sessions.frame, 0), 30);
    assert_true(vertices_usual(&vertices, &sessions.schema, 4));
    assert_true(vertices_weigh(&vertices, &sessions.frame, 0, &weights));
    assert_float_equal(weights.shares[0], 0.15, 1e-9);
    assert_float_equal(weights.shares[1], 0.35, 1e-9); /* idle */
    assert_float_equal(weights.shares[2], 0.22, 1e-9);
    assert_float_equal(weights.shares[3], 0.1, 1e-9);
    session_frame_release(&sessions);
}

/* Throttled time is in a column beside the run queue, with and without --detail. */
static void throttled_time_is_a_state_of_its_own_beside_the_run_queue(void **state)
{
    (void)state;
    for (int detail = 0; detail < 2; detail++) {
        const struct session_plan plan = {
            .name = "postgres", .detail = detail, .has_throttled = true, .rules_text = rules
        };
        struct session_frame sessions;
        struct session throttled = one;

        throttled.run_queue_ns = 110;
        throttled.throttled_ns = 40; /* in no vertex of a picture, as the run queue */
        assert_int_equal(session_frame_init(&sessions, &plan, NULL), CAMP_OK);
        session_frame_begin(&sessions, 10, 1010, 5);
        assert_int_equal(session_frame_add(&sessions, &throttled), CAMP_OK);
        assert_int_equal(sessions.schema.state_count, detail ? 3 + 4 : SESSION_STATE_COUNT + 1);
        assert_string_equal(sessions.schema.columns[2].name, COLUMN_THROTTLED);
        assert_int_equal(sessions.schema.columns[2].class, CLASS_THROTTLED);
        assert_int_equal(value(&sessions, "run_queue_ns"), 110);
        assert_int_equal(value(&sessions, COLUMN_THROTTLED), 40);
        assert_int_equal(value(&sessions, "contention_lock_ns"), 100);
        if (!detail) {
            assert_int_equal(value(&sessions, "contention_ns"), 100);
            assert_int_equal(value(&sessions, "idle_ns"), 350);
        }
        assert_int_equal(frame_unaccounted_ns(&sessions.frame, 0), 30);
        session_frame_release(&sessions);
    }
}

/* A database does not know how long a session was in the run queue. */
static void a_picture_of_sessions_leaves_out_the_run_queue(void **state)
{
    struct session_frame sessions;
    struct vertices vertices;
    struct weights weights;

    (void)state;
    open_frame(&sessions, false, true);
    assert_true(vertices_usual(&vertices, &sessions.schema, 3));
    assert_true(vertices_weigh(&vertices, &sessions.frame, 0, &weights));
    assert_float_equal(weights.left_out, 0.15, 1e-9);
    assert_float_equal(weights.missing, 0.03, 1e-9);
    assert_float_equal(weights.shares[2], 0.32, 1e-9); /* wait and contention */
    session_frame_release(&sessions);
}

/* The two kinds differ only after the bytes that the cache of kinds has space for. */
static void waits_whose_names_differ_only_beyond_the_cached_bytes_are_distinguished(void **state)
{
    char text[400];
    const struct session_kind idle = { { text, "ClientRead", "idle", "client" } };
    const struct session_kind other = { { text, "ClientRead", "active", "client" } };
    const struct session_plan plan = {
        .name = "postgres",
        .rules_text = "idle client class=x* activity=idle\nwait client_of class=x*\n",
    };
    struct session_frame sessions;

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(session_frame_init(&sessions, &plan, NULL), CAMP_OK);
    assert_int_equal(session_frame_state(&sessions, &idle), SESSION_IDLE);
    assert_int_equal(session_frame_state(&sessions, &other), SESSION_WAIT);
    session_frame_release(&sessions);
}

static void an_error_in_the_session_rules_is_reported_with_the_line_number(void **state)
{
    struct session_plan plan = { .name = "postgres", .rules_text = "idle x\n" };
    struct session_frame sessions;
    struct camp_error error = { 0 };
    char path[320] = "/nonexistent/";

    (void)state;
    assert_int_equal(session_frame_init(&sessions, &plan, &error), CAMP_E_FORMAT);
    assert_string_equal(
        error.message,
        "built-in rules:1: x: what must match is missing: class=REGEX, event=REGEX ...");
    session_frame_release(&sessions);
    plan.rules_path = "/dev/null";
    assert_int_equal(session_frame_init(&sessions, &plan, &error), CAMP_E_FORMAT);
    assert_string_equal(error.message,
                        "/dev/null: no rule in it: a line is STATE COLUMN class=REGEX ...");
    session_frame_release(&sessions);
    plan.rules_path = "/nonexistent/x.rules";
    assert_int_equal(session_frame_init(&sessions, &plan, &error), CAMP_E_IO);
    assert_string_equal(error.message,
                        "cannot read the rules /nonexistent/x.rules: No such file or directory");
    session_frame_release(&sessions);
    memset(path + strlen(path), 'x', 300); /* A long path must not be cut off. */
    memcpy(path + 300, ".rules", sizeof ".rules");
    plan.rules_path = path;
    assert_int_equal(session_frame_init(&sessions, &plan, &error), CAMP_E_IO);
    assert_non_null(strstr(error.message, path));
    session_frame_release(&sessions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_of_a_wait_that_no_rule_matches_is_unaccounted),
        cmocka_unit_test(with_the_option_detail_each_column_of_the_rules_is_a_state),
        cmocka_unit_test(throttled_time_is_a_state_of_its_own_beside_the_run_queue),
        cmocka_unit_test(a_picture_of_sessions_leaves_out_the_run_queue),
        cmocka_unit_test(waits_whose_names_differ_only_beyond_the_cached_bytes_are_distinguished),
        cmocka_unit_test(an_error_in_the_session_rules_is_reported_with_the_line_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
