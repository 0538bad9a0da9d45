/* Rows of sessions divided by wait event. */
#include "divided_sessions.h"

static const char rules[] = "contention lock class=Lock\n"
                            "idle client class=Client activity=idle\n"
                            "wait other class=Client\n"
                            "cpu seen event=busy\n"
                            "wait without class=none\n";
static const char *const label_names[] = { "user", SESSION_LABELS_OF_BLOCKERS,
                                           SOURCE_LABEL_WAIT_EVENT };
enum { USER, BLOCKER, EVENT = SESSION_LABELS_MORE };

static const struct session_time times[] = {
    { { { "Lock", "tuple", "active", "client" } }, 100 },
    { { { "Client", "ClientRead", "idle", "client" } }, 300 },
    { { { "none", "none", "active", "client" } }, 30 },
    { { { "Lock", "tuple", "idle", "client" } }, 11 },
    { { { "Client", "ClientRead", "active", "client" } }, 200 },
    { { { "stopped", "none", "active", "client" } }, 5 },
    { { { "none", "busy", "active", "client" } }, 7 },
};
#define ASLEEP_NS (100 + 300 + 30 + 11 + 200 + 5 + 7)
#define ELAPSED_NS 1000

static int start(void **state)
{
    const struct session_plan plan = { .name = "postgres",
                                       .has_reported = true,
                                       .has_lengths = true,
                                       .cpu_provenance = CAMP_MEASURED,
                                       .wait_provenance = CAMP_SCALED,
                                       .rules_text = rules,
                                       .label_names = label_names,
                                       .label_count = EVENT + 1,
                                       .is_lock = is_lock };

    (void)state;
    start_sessions(&plan);
    sessions.division = session_division_of(SOURCE_LABEL_WAIT_EVENT);
    return 0;
}

static void add(size_t first, size_t count, uint64_t elapsed_ns, uint64_t cpu_ns)
{
    const char *const values[] = { "bob" };
    const struct session session = {
        .entity = { .id = 7, .count = 1, .labels = labels_intern(values, 1) },
        .elapsed_ns = elapsed_ns,
        .cpu_ns = cpu_ns,
        .times = times + first,
        .time_count = count,
        .sample_count = 10,
        .reported_ns = { 60 },
        .start = 70
    };

    assert_int_equal(session_frame_add(&sessions, &session), CAMP_OK);
}

static const char *event_at(size_t row)
{
    assert_true(row < sessions.frame.entity_count);
    return labels_value(sessions.frame.entities[row].labels, EVENT);
}

static uint64_t sum_of(const char *column)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sessions.frame.entity_count; i++)
        sum += value(i, column);
    return sum;
}

static void the_rows_of_a_session_by_event_add_up_to_it(void **state)
{
    uint64_t elapsed_ns = 0;
    int64_t unaccounted_ns = 0;

    (void)state;
    add(0, 7, ELAPSED_NS, 60);
    assert_int_equal(sessions.frame.entity_count, 4);
    assert_string_equal(event_at(0), "");
    assert_string_equal(event_at(1), "Lock/tuple");
    assert_string_equal(event_at(2), "Client/ClientRead");
    assert_string_equal(event_at(3), "stopped");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal((sessions.frame.entities[i].flags & ENTITY_PART) != 0, i > 0);
        assert_string_equal(labels_value(sessions.frame.entities[i].labels, USER), "bob");
        elapsed_ns += sessions.frame.elapsed_ns[i];
        unaccounted_ns += frame_unaccounted_ns(&sessions.frame, i);
    }
    assert_int_equal(elapsed_ns, ELAPSED_NS);
    /* No rule says what a stopped session is. */
    assert_int_equal(unaccounted_ns, ELAPSED_NS - 60 - ASLEEP_NS + 5);
    assert_int_equal(value(1, "contention_ns"), 111);
    assert_int_equal(value(2, "idle_ns"), 300);
    assert_int_equal(value(2, "wait_ns"), 200);
    assert_int_equal(sum_of("cpu_ns"), 67);
    assert_int_equal(sum_of("samples"), 10);
    assert_int_equal(sum_of("reported_cpu_ns"), 60);
}

static void time_on_a_cpu_and_a_sleep_without_an_event_are_in_the_row_without_one(void **state)
{
    (void)state;
    add(2, 1, 100, 60);
    add(6, 1, 100, 0);
    assert_int_equal(sessions.frame.entity_count, 2);
    assert_string_equal(event_at(0), "");
    assert_int_equal(value(0, "cpu_ns"), 60);
    assert_int_equal(value(0, "wait_ns"), 30);
    assert_int_equal(frame_unaccounted_ns(&sessions.frame, 0), 10);
    assert_string_equal(event_at(1), "");
    assert_int_equal(value(1, "cpu_ns"), 7);
}

/* Without a row for the rest, the row of the first event counts as the session. */
static void a_session_that_only_waited_has_no_row_without_an_event(void **state)
{
    (void)state;
    add(0, 2, 400, 0);
    assert_int_equal(sessions.frame.entity_count, 2);
    assert_string_equal(event_at(0), "Lock/tuple");
    assert_int_equal(sessions.frame.entities[0].flags & ENTITY_PART, 0);
    assert_int_equal(value(0, "samples"), 10);
    assert_int_equal(value(0, "reported_cpu_ns"), 60);
    assert_int_equal(sessions.frame.elapsed_ns[0], 100);
    assert_int_equal(sessions.frame.entities[1].flags & ENTITY_PART, ENTITY_PART);
    assert_int_equal(value(1, "samples"), 0);
    assert_int_equal(frame_size(&sessions.frame), 1);
}

static void a_session_without_time_has_one_row(void **state)
{
    (void)state;
    add(0, 0, 0, 0);
    assert_int_equal(sessions.frame.entity_count, 1);
    assert_string_equal(event_at(0), "");
}

static void the_row_of_a_lock_has_its_blocker(void **state)
{
    static const int64_t eight = 8;
    const struct blocked_sample waiting[] = { { 7, 70, &eight, 1 } };

    (void)state;
    assert_int_equal(blocker_samples_add(&samples, 1000, waiting, 1), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1010, waiting, 1), CAMP_OK);
    add(0, 7, ELAPSED_NS, 60);
    assert_string_equal(event_at(1), "Lock/tuple");
    assert_string_equal(labels_value(sessions.frame.entities[1].labels, BLOCKER), "8");
    assert_int_equal(value(1, "blocked_ns"), 111);
    assert_int_equal(sum_of("blocked_ns"), 111);
    assert_string_equal(labels_value(sessions.frame.entities[2].labels, BLOCKER), "");
}

/* The first and the fourth time are in the event Lock/tuple: 90 of the first are measured. */
static void add_measured(void)
{
    static const int64_t eight = 8;
    static const struct blocked_sample waiting[] = { { 7, 70, &eight, 1 } };
    static const struct measured_block measured[] = { { 0, { 9, 9, 60 } }, { 0, { 6, 5, 30 } } };
    const struct session session = { .entity = { .id = 7, .count = 1 },
                                     .elapsed_ns = ELAPSED_NS,
                                     .cpu_ns = 60,
                                     .times = times,
                                     .time_count = 7,
                                     .start = 70,
                                     .measured = measured,
                                     .measured_count = 2 };

    assert_int_equal(blocker_samples_add(&samples, 1000, waiting, 1), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1010, waiting, 1), CAMP_OK);
    assert_int_equal(session_frame_add(&sessions, &session), CAMP_OK);
}

static void the_row_of_a_lock_has_its_measured_blocker(void **state)
{
    (void)state;
    add_measured();
    assert_int_equal(sessions.frame.entity_count, 4);
    assert_string_equal(labels_value(sessions.frame.entities[0].labels, BLOCKER), "");
    assert_string_equal(event_at(1), "Lock/tuple");
    assert_string_equal(labels_value(sessions.frame.entities[1].labels, BLOCKER), "9");
    assert_int_equal(sum_of("blocked_ns"), 60);
}

static void an_event_is_divided_by_blocker_if_both_are_asked_for(void **state)
{
    static const struct {
        const char *event, *blocker;
        uint64_t elapsed_ns, blocked_ns;
    } expected[] = {
        { "", "", ELAPSED_NS - 111 - 500 - 5, 0 },
        { "Lock/tuple", "6", 30, 30 },
        { "Lock/tuple", "8", 21, 21 },
        { "Lock/tuple", "9", 60, 60 },
        { "Client/ClientRead", "", 500, 0 },
        { "stopped", "", 5, 0 },
    };

    (void)state;
    sessions.division = session_division_of(SOURCE_DIVISION_WAITS);
    add_measured();
    assert_int_equal(sessions.frame.entity_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(event_at(i), expected[i].event);
        assert_string_equal(labels_value(sessions.frame.entities[i].labels, BLOCKER),
                            expected[i].blocker);
        assert_int_equal(sessions.frame.elapsed_ns[i], expected[i].elapsed_ns);
        assert_int_equal(value(i, "blocked_ns"), expected[i].blocked_ns);
        assert_int_equal((sessions.frame.entities[i].flags & ENTITY_PART) != 0, i > 0);
    }
}

/* Two sleeps in a lock, one idle, and one in an event without time in the interval. */
static void add_with_lengths(void)
{
    static const uint64_t two[SESSION_LENGTHS] = { [3] = 2 }, one[SESSION_LENGTHS] = { [9] = 1 };
    const struct session_lengths lengths[] = {
        { { { "Lock", "tuple", "active", "client" } }, 20000, 12000, 1, two },
        { { { "Client", "ClientRead", "idle", "client" } }, 600000, 600000, 2, one },
        { { { "Client", "ClientWrite", "active", "client" } }, 550000, 550000, 3, one },
    };
    const struct session session = { .entity = { .id = 7, .count = 1 },
                                     .elapsed_ns = 400,
                                     .times = times,
                                     .time_count = 2,
                                     .lengths = lengths,
                                     .lengths_count = 3 };

    assert_int_equal(session_frame_add(&sessions, &session), CAMP_OK);
}

static void each_row_has_the_lengths_of_its_event(void **state)
{
    (void)state;
    add_with_lengths();
    assert_int_equal(sessions.frame.entity_count, 3);
    assert_string_equal(event_at(0), "Lock/tuple");
    assert_int_equal(value(0, "waits"), 2);
    assert_int_equal(value(0, "waits_ns"), 20000);
    assert_int_equal(value(0, "waits_log2_13"), 2);
    assert_int_equal(value(0, "waits_max_ns"), 12000);
    assert_int_equal(value(0, "waits_max_id"), 7);
    assert_int_equal(value(0, "waits_max_wall_clock_ns"), 1);
    assert_string_equal(event_at(1), "Client/ClientRead");
    assert_int_equal(value(1, "waits"), 1);
    assert_string_equal(event_at(2), "Client/ClientWrite");
    assert_int_equal(value(2, "waits_log2_19"), 1);
    assert_int_equal(sessions.frame.elapsed_ns[2], 0);
}

static void whole_sessions_may_have_their_rows_by_event_beside_them(void **state)
{
    static const int64_t eight = 8;
    const struct blocked_sample waiting[] = { { 7, 70, &eight, 1 } };
    const struct frame *events;
    uint64_t elapsed_ns = 0;

    (void)state;
    assert_null(session_frame_beside(&sessions));
    sessions.division = session_division_of(SOURCE_DIVISION_BESIDE);
    assert_int_equal(blocker_samples_add(&samples, 1000, waiting, 1), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1010, waiting, 1), CAMP_OK);
    add(0, 7, ELAPSED_NS, 60);
    add_with_lengths();
    events = session_frame_beside(&sessions);
    assert_int_equal(sessions.frame.entity_count, 2);
    assert_int_equal(events->entity_count, 4 + 3);
    assert_int_equal(events->end_ns, sessions.frame.end_ns);
    /* The session keeps its blocker; its parts have none, and add up to it. */
    assert_string_equal(event_at(0), "");
    assert_string_equal(labels_value(sessions.frame.entities[0].labels, BLOCKER), "8");
    assert_int_equal(value(0, "blocked_ns"), 111);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(labels_value(events->entities[i].labels, BLOCKER), "");
        elapsed_ns += events->elapsed_ns[i];
    }
    assert_int_equal(elapsed_ns, ELAPSED_NS);
    assert_string_equal(labels_value(events->entities[1].labels, EVENT), "Lock/tuple");
    assert_int_equal(events->elapsed_ns[1], 111);
    /* Idle sleeps are only among the parts. */
    assert_int_equal(value(1, "waits"), 3);
    assert_string_equal(labels_value(events->entities[5].labels, EVENT), "Client/ClientRead");
    assert_int_equal(frame_values(events, 5)[sessions.first_length_column], 1);
    session_frame_begin(&sessions, 1001, 2001, 6);
    assert_int_equal(events->entity_count, 0);
}

static void a_whole_session_has_the_lengths_of_what_is_not_idle(void **state)
{
    (void)state;
    sessions.division = SESSION_UNDIVIDED;
    add_with_lengths();
    assert_int_equal(sessions.frame.entity_count, 1);
    assert_int_equal(value(0, "waits"), 3);
    assert_int_equal(value(0, "waits_ns"), 570000);
    assert_int_equal(value(0, "waits_max_ns"), 550000);
}

static void the_longest_wait_of_a_sum_is_that_of_one_row(void **state)
{
    struct frame sum;

    (void)state;
    add_with_lengths();
    frame_init(&sum, &sessions.schema);
    assert_non_null(frame_add(&sum));
    for (size_t i = 0; i < 3; i++)
        frame_add_values(&sum, 0, &sessions.frame, i);
    assert_int_equal(frame_values(&sum, 0)[sessions.schema.longest], 600000);
    assert_int_equal(frame_values(&sum, 0)[sessions.schema.longest + 1], 7);
    assert_int_equal(frame_values(&sum, 0)[sessions.schema.longest + 2], 2);
    assert_int_equal(frame_values(&sum, 0)[sessions.schema.longest - 1], 1170000);
    frame_release(&sum);
}

static void sessions_are_divided_only_by_labels_that_divide(void **state)
{
    (void)state;
    assert_int_equal(session_division_of(NULL), SESSION_UNDIVIDED);
    assert_int_equal(session_division_of("user"), SESSION_UNDIVIDED);
    assert_int_equal(session_division_of("query"), SESSION_BY_STATEMENT);
    assert_int_equal(session_division_of("blocker"), SESSION_BY_BLOCKER);
    assert_int_equal(session_division_of("wait_event"), SESSION_BY_EVENT);
    sessions.division = SESSION_UNDIVIDED;
    add(0, 7, ELAPSED_NS, 60);
    assert_int_equal(sessions.frame.entity_count, 1);
    assert_string_equal(event_at(0), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_rows_of_a_session_by_event_add_up_to_it),
        TEST(time_on_a_cpu_and_a_sleep_without_an_event_are_in_the_row_without_one),
        TEST(a_session_that_only_waited_has_no_row_without_an_event),
        TEST(a_session_without_time_has_one_row),
        TEST(the_row_of_a_lock_has_its_blocker),
        TEST(the_row_of_a_lock_has_its_measured_blocker),
        TEST(an_event_is_divided_by_blocker_if_both_are_asked_for),
        TEST(each_row_has_the_lengths_of_its_event),
        TEST(whole_sessions_may_have_their_rows_by_event_beside_them),
        TEST(a_whole_session_has_the_lengths_of_what_is_not_idle),
        TEST(the_longest_wait_of_a_sum_is_that_of_one_row),
        TEST(sessions_are_divided_only_by_labels_that_divide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
