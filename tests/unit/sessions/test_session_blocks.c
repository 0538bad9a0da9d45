/* Rows of sessions with who blocked them: as one row, and divided by blocker. */
#include "divided_sessions.h"

static const char rules[] = "contention row class=Lock event=row\n"
                            "contention table class=Lock\n"
                            "contention latch class=LWLock\n"
                            "idle client class=Client\n";
static const char *const label_names[] = { "user", SESSION_LABELS_OF_BLOCKERS };

static const struct session_time times[] = {
    { { { "Lock", "row", "active", "client" } }, 100 },
    { { { "Client", "ClientRead", "idle", "client" } }, 300 },
    { { { "Lock", "table", "active", "client" } }, 201 },
    { { { "LWLock", "x", "active", "client" } }, 7 },
};
#define LOCK_NS 301
#define ELAPSED_NS 700

static int start(void **state)
{
    const struct session_plan plan = { .name = "postgres",
                                       .cpu_provenance = CAMP_MEASURED,
                                       .wait_provenance = CAMP_MEASURED,
                                       .rules_text = rules,
                                       .label_names = label_names,
                                       .label_count = 4,
                                       .is_lock = is_lock };

    (void)state;
    start_sessions(&plan);
    return 0;
}

/* Session 7 waited for session 8, which waits for 9, twice as long as for session 4. */
static void sample(void)
{
    static const int64_t eight = 8, nine = 9, four = 4;
    const struct blocked_sample first[] = { { 7, 70, &eight, 1 }, { 8, 80, &nine, 1 } };
    const struct blocked_sample second[] = { { 7, 70, &four, 1 }, { 8, 80, &nine, 1 } };

    assert_int_equal(blocker_samples_add(&samples, 1000, first, 2), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1010, first, 2), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1020, second, 2), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1022, NULL, 0), CAMP_OK);
}

static void add(int64_t id, size_t time_count, uint32_t flags)
{
    const struct session session = { .entity = { .id = id, .count = 1, .flags = flags },
                                     .elapsed_ns = ELAPSED_NS,
                                     .cpu_ns = 60,
                                     .run_queue_ns = 2,
                                     .times = times,
                                     .time_count = time_count,
                                     .start = 10 * id };

    assert_int_equal(session_frame_add(&sessions, &session), CAMP_OK);
}

static struct session_activity activity_of(const void *context, const struct entity *row)
{
    (void)context;
    return row->id == 9 ? (struct session_activity){ "idle_in_transaction", 41 }
                        : (struct session_activity){ NULL, 0 };
}

static const char *label(size_t row, enum session_label which)
{
    assert_true(row < sessions.frame.entity_count);
    return labels_value(sessions.frame.entities[row].labels, 1 + (size_t)which);
}

static void a_session_has_the_label_of_its_longest_blocker(void **state)
{
    (void)state;
    sample();
    add(7, 4, 0);
    assert_int_equal(sessions.frame.entity_count, 1);
    assert_string_equal(label(0, SESSION_BLOCKER), "8");
    assert_string_equal(label(0, SESSION_ROOT_BLOCKER), "9");
    assert_int_equal(value(0, "contention_ns"), LOCK_NS + 7);
    assert_true(value(0, "blocked_ns") > LOCK_NS / 2);
    assert_true(value(0, "blocked_ns") < LOCK_NS);
}

static void the_rows_of_a_session_by_blocker_add_up_to_it(void **state)
{
    uint64_t elapsed_ns = 0, contention_ns = 0, row_ns = 0, blocked_ns = 0;

    (void)state;
    sample();
    sessions.division = SESSION_BY_BLOCKER;
    add(7, 4, 0);
    assert_int_equal(sessions.frame.entity_count, 3);
    assert_string_equal(label(0, SESSION_BLOCKER), "");
    assert_string_equal(label(1, SESSION_BLOCKER), "4");
    assert_string_equal(label(1, SESSION_ROOT_BLOCKER), "4");
    assert_string_equal(label(2, SESSION_BLOCKER), "8");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal((sessions.frame.entities[i].flags & ENTITY_PART) != 0, i > 0);
        assert_int_equal(frame_unaccounted_ns(&sessions.frame, i), i == 0 ? 30 : 0);
        elapsed_ns += sessions.frame.elapsed_ns[i];
        contention_ns += value(i, "contention_ns");
        row_ns += value(i, "contention_row_ns");
        blocked_ns += value(i, "blocked_ns");
    }
    assert_int_equal(elapsed_ns, ELAPSED_NS);
    assert_int_equal(contention_ns, LOCK_NS + 7);
    assert_int_equal(row_ns, 100);
    assert_int_equal(blocked_ns, LOCK_NS);
    assert_int_equal(value(0, "contention_latch_ns"), 7);
    assert_int_equal(value(0, "cpu_ns"), 60);
}

static void waits_without_a_sample_are_of_an_unknown_blocker(void **state)
{
    (void)state;
    sessions.division = SESSION_BY_BLOCKER;
    add(7, 4, 0);
    assert_int_equal(sessions.frame.entity_count, 2);
    assert_string_equal(label(1, SESSION_BLOCKER), SESSION_BLOCKER_UNKNOWN);
    assert_int_equal(value(1, "contention_ns"), LOCK_NS);
    assert_int_equal(value(1, "blocked_ns"), 0);
    add(6, 2, ENTITY_ENDED);
    assert_int_equal(sessions.frame.entity_count, 4);
}

static void a_session_that_blocks_others_has_their_time_and_its_activity(void **state)
{
    (void)state;
    sample();
    sessions.division = SESSION_BY_BLOCKER;
    add(9, 0, ENTITY_ENDED); /* an earlier session with the same pid */
    add(9, 0, 0);
    add(8, 1, 0);
    add(7, 4, 0);
    session_frame_end(&sessions, activity_of, NULL);
    assert_int_equal(value(0, "blocking_ns"), 0);
    assert_int_equal(value(1, "blocking_ns"), 100); /* session 8 waited for it */
    assert_int_equal(value(1, "blocking_activity_ns"), 41);
    assert_string_equal(label(1, SESSION_BLOCKING_ACTIVITY), "idle_in_transaction");
    assert_true(value(2, "blocking_ns") > LOCK_NS / 2);
    assert_int_equal(value(2, "blocking_ns"), value(6, "blocked_ns"));
    assert_string_equal(label(2, SESSION_BLOCKING_ACTIVITY), "");
    assert_int_equal(value(3, "blocking_ns"), 0); /* a part of session 8 */
}

static void an_ended_session_blocks_if_no_living_one_has_its_pid(void **state)
{
    (void)state;
    sample();
    add(9, 0, ENTITY_ENDED);
    add(8, 1, 0);
    session_frame_end(&sessions, activity_of, NULL);
    assert_int_equal(value(0, "blocking_ns"), 100);
}

static void a_blocker_without_a_row_is_only_a_label(void **state)
{
    (void)state;
    sample();
    add(8, 1, 0);
    session_frame_end(&sessions, activity_of, NULL);
    assert_string_equal(label(0, SESSION_BLOCKER), "9");
    assert_int_equal(value(0, "blocking_ns"), 0);
}

static bool is_any_lock(const struct session_kind *kind)
{
    return is_lock(kind) || strcmp(kind->texts[SESSION_CLASS], "LWLock") == 0;
}

static int start_with_wakers(void **state)
{
    const struct session_plan plan = { .name = "postgres",
                                       .cpu_provenance = CAMP_MEASURED,
                                       .wait_provenance = CAMP_MEASURED,
                                       .rules_text = rules,
                                       .label_names = label_names,
                                       .label_count = 4,
                                       .has_wakers = true,
                                       .is_lock = is_any_lock,
                                       .is_sampled_lock = is_lock };

    (void)state;
    start_sessions(&plan);
    return 0;
}

/* Of the 201 ns for the table, 1 ns lasts or ended otherwise; of the 7 ns of the latch, 2. */
static const struct measured_block measured[] = {
    { 0, { 8, 9, 60 } }, { 0, { 8, 8, 40 } }, { 2, { 4, 4, 200 } }, { 3, { 4, 9, 5 } }
};

static void add_measured(bool waits_for_lock)
{
    const struct session session = { .entity = { .id = 7, .count = 1 },
                                     .elapsed_ns = ELAPSED_NS,
                                     .cpu_ns = 60,
                                     .run_queue_ns = 2,
                                     .times = times,
                                     .time_count = 4,
                                     .start = 70,
                                     .measured = measured,
                                     .measured_count = 4,
                                     .waits_for_lock = waits_for_lock };

    assert_int_equal(session_frame_add(&sessions, &session), CAMP_OK);
}

static void a_measured_wait_is_of_its_waker_and_in_its_own_column(void **state)
{
    uint64_t contention_ns = 0, blocked_ns = 0, measured_ns = 0, row_ns = 0, table_ns = 0,
             latch_ns = 0, count = 0;

    (void)state;
    sample();
    sessions.division = SESSION_BY_BLOCKER;
    add_measured(false);
    assert_int_equal(sessions.frame.entity_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(frame_unaccounted_ns(&sessions.frame, i), i == 0 ? 30 : 0);
        contention_ns += value(i, "contention_ns");
        blocked_ns += value(i, "blocked_ns");
        measured_ns += value(i, "blocked_measured_ns");
        count += sessions.frame.entities[i].count;
        if (value(i, "blocked_measured_ns") == 0)
            continue;
        row_ns += value(i, "contention_row_ns");
        table_ns += value(i, "contention_table_ns");
        latch_ns += value(i, "contention_latch_ns");
    }
    assert_int_equal(contention_ns, LOCK_NS + 7);
    assert_int_equal(measured_ns, 305);
    assert_int_equal(row_ns, 100);
    assert_int_equal(table_ns, 200);
    assert_int_equal(latch_ns, 5);
    assert_int_equal(blocked_ns, 306); /* 1 ns by samples */
    assert_int_equal(count, 4);        /* the rest, 4, 8, and unknown */
    assert_string_equal(label(6, SESSION_BLOCKER), SESSION_BLOCKER_UNKNOWN);
    assert_int_equal(value(6, "contention_latch_ns"), 2);
}

static void the_longest_blocker_is_that_of_measured_and_sampled_waits_together(void **state)
{
    (void)state;
    sample();
    add_measured(false);
    assert_int_equal(sessions.frame.entity_count, 1);
    assert_string_equal(label(0, SESSION_BLOCKER), "4");
    assert_string_equal(label(0, SESSION_ROOT_BLOCKER), "4");
    assert_int_equal(value(0, "blocked_measured_ns"), 205);
    assert_in_range(value(0, "blocked_ns"), 205, 206);
}

/* The last sample of session 7 has the blocker 4, most samples have 8. */
static void a_wait_that_lasts_beside_measured_ones_is_divided_by_the_last_sample(void **state)
{
    static const int64_t eight = 8, four = 4;
    const struct blocked_sample first = { 7, 70, &eight, 1 }, second = { 7, 70, &four, 1 };

    (void)state;
    assert_int_equal(blocker_samples_add(&samples, 1000, &first, 1), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1500, &first, 1), CAMP_OK);
    assert_int_equal(blocker_samples_add(&samples, 1501, &second, 1), CAMP_OK);
    add_measured(true);
    assert_int_equal(value(0, "blocked_ns"), 206);
    assert_int_equal(value(0, "blocked_measured_ns"), 205);
    add_measured(false);
    assert_int_equal(value(1, "blocked_ns"), 205);
}

#define TEST_OF_WAKERS(name) cmocka_unit_test_setup_teardown(name, start_with_wakers, end)
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_has_the_label_of_its_longest_blocker),
        TEST(the_rows_of_a_session_by_blocker_add_up_to_it),
        TEST(waits_without_a_sample_are_of_an_unknown_blocker),
        TEST(a_session_that_blocks_others_has_their_time_and_its_activity),
        TEST(an_ended_session_blocks_if_no_living_one_has_its_pid),
        TEST(a_blocker_without_a_row_is_only_a_label),
        TEST_OF_WAKERS(a_measured_wait_is_of_its_waker_and_in_its_own_column),
        TEST_OF_WAKERS(the_longest_blocker_is_that_of_measured_and_sampled_waits_together),
        TEST_OF_WAKERS(a_wait_that_lasts_beside_measured_ones_is_divided_by_the_last_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
