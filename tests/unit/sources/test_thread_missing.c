/* Tests that each nanosecond is accounted once of threads that a snapshot lacks, whose final
 * reading is late or part of a total, or that got another tid. */
#include "registry_intervals.h"

static void a_thread_with_a_reused_tid_is_another_thread(void **state)
{
    struct did now;

    (void)state;
    script_list(worker(7, 1, 100, 900));
    next();
    script_list(worker(7, 1, 1500, 20));
    now = next(); /* the exit of the first thread is not known yet */
    assert_int_equal(now.slept_ns, 20);
    assert_int_equal(now.new_rows, 1);
    exit_as(worker(7, 1, 100, 940));
    script.idle[7] = true;
    now = next();
    assert_int_equal(now.rows, 1);
    assert_int_equal(now.slept_ns, 40 + 1480);
}

static void a_thread_that_a_snapshot_has_and_that_then_exits_has_its_end_in_the_next(void **state)
{
    struct did now;

    (void)state;
    script_list(worker(7, 1, 100, 50));
    next();
    script_list(worker(7, 1, 100, 90));
    script_add_exit(&script.exits_of_listing, worker(7, 1, 100, 95));
    now = next();
    assert_int_equal(now.rows, 1);
    assert_int_equal(now.slept_ns, 40);
    assert_int_equal(registry.threads, 0);
    remove_tid(7);
    now = next();
    assert_int_equal(now.rows, 1);
    assert_int_equal(now.ended_rows, 1);
    assert_int_equal(now.slept_ns, 5);
    assert_int_equal(next().rows, 0);
}

static void
a_thread_that_exits_during_a_snapshot_that_lacks_it_belongs_to_its_interval(void **state)
{
    struct did now;

    (void)state;
    script_list(worker(7, 1, 100, 50));
    next();
    remove_tid(7);
    script_add_exit(&script.exits_of_listing, worker(7, 1, 100, 95));
    now = next();
    assert_int_equal(now.rows, 1);
    assert_int_equal(now.ended_rows, 1);
    assert_int_equal(now.slept_ns, 45);
}

static void
exits_that_are_read_late_belong_to_the_interval_only_if_the_snapshot_lacks_them(void **state)
{
    (void)state;
    script_list(worker(7, 1, 100, 50));
    script_list(worker(8, 1, 100, 60));
    next();
    remove_tid(7);
    next();
    exit_as(worker(7, 1, 100, 52));
    exit_as(worker(8, 1, 100, 64));
    exit_as(worker(9, 1, registry.snapshot_ns, 5)); /* started after the snapshot */
    assert_int_equal(thread_registry_read_late(&registry, NULL, NULL), CAMP_OK);
    assert_int_equal(did.rows, 1);
    assert_int_equal(did.slept_ns, 2);
    remove_tid(8);
    assert_int_equal(next().slept_ns, 2 + 4 + 5);
}

static void a_late_final_reading_adds_only_the_time_not_yet_accounted(void **state)
{
    for (int late = 0; late <= 5; late++) {
        close_registry(state);
        open_registry(state);
        script_list(worker(7, 1, 100, 50));
        next();
        remove_tid(7);
        for (int i = 0; i < late; i++)
            assert_int_equal(next().rows, 0);
        assert_int_equal(registry.kept.count, late >= 1 && late <= 3);
        exit_as(worker(7, 1, 100, 60));
        /* a reading is kept for three further snapshots, and then is given up */
        assert_int_equal(next().slept_ns, late <= 3 ? 10 : 60);
        assert_int_equal(registry.kept.count, 0);
    }
}

static void a_thread_missing_in_one_snapshot_continues_in_the_next_one(void **state)
{
    (void)state;
    script_list(worker(7, 1, 100, 50));
    next();
    for (int round = 0; round < 2; round++) {
        remove_tid(7);
        for (int i = 0; i < 3; i++)
            assert_int_equal(next().rows, 0);
        assert_int_equal(registry.threads, 0);
        script_list(worker(7, 1, 100, round == 0 ? 70 : 75));
        assert_int_equal(next().slept_ns, round == 0 ? 20 : 5);
        assert_int_equal(registry.threads, 1);
    }
}

static void a_thread_that_gets_another_tid_by_exec_is_accounted_once(void **state)
{
    struct camp_thread_states other = worker(12, 1, 200, 700), last = worker(10, 1, 100, 903);
    struct did now;

    (void)state;
    other.pid = 10;
    script_list(worker(10, 1, 100, 900));
    script_list(other);
    assert_int_equal(next().slept_ns, 1600);
    remove_tid(12);
    other.tid = 10;
    other.state_ns[CAMP_STATE_TIMER] += 100;
    other.time_ns += 100;
    script_list(other);
    last.tid = 12; /* the kernel exchanges the two tids */
    exit_as(last);
    now = next();
    assert_int_equal(now.rows, 2);
    assert_int_equal(now.slept_ns, 3 + 100);
    assert_int_equal(registry.threads, 1);
    assert_int_equal(registry.processes, 1);
}

static void of_two_threads_with_the_same_start_the_one_with_the_tid_is_matched(void **state)
{
    struct camp_thread_states other = worker(12, 1, 100, 800);
    struct did now;

    (void)state;
    other.pid = 15; /* the first thread of a process may have a greater tid than others */
    script_list(worker(15, 1, 100, 500));
    script_list(other);
    next();
    remove_tid(12);
    remove_tid(15);
    next();
    exit_as(worker(15, 1, 100, 501));
    now = next();
    assert_int_equal(now.slept_ns, 1);
    other.state_ns[CAMP_STATE_TIMER] += 2;
    other.time_ns += 2;
    exit_as(other);
    assert_int_equal(next().slept_ns, 2);
}

static void a_sum_of_exited_threads_adds_only_the_time_not_yet_accounted(void **state)
{
    struct did now;

    (void)state;
    script_list(worker(7, 5, 100, 50));
    script_list(worker(8, 1, 100, 40)); /* has another parent than the total, so it stays missing */
    next();
    remove_tid(7);
    remove_tid(8);
    exit_as(total_of(1, 5, 70));
    now = next();
    assert_int_equal(now.slept_ns, 20);
    assert_int_equal(now.rows, 1);
    exit_as(worker(8, 1, 100, 45));
    assert_int_equal(next().slept_ns, 5);
}

static void a_thread_whose_parent_exited_is_not_accounted_twice(void **state)
{
    (void)state;
    script_list(worker(7, 5, 100, 50));
    next();
    remove_tid(7);
    next();
    next();
    exit_as(total_of(1, 1, 70));
    assert_int_equal(next().slept_ns, 20);
}

static void final_readings_of_single_threads_are_used_before_sums_of_exited_threads(void **state)
{
    (void)state;
    script_list(worker(7, 1, 100, 50));
    next();
    remove_tid(7);
    next();
    exit_as(total_of(2, 1, 70));
    exit_as(worker(7, 1, 100, 60));
    assert_int_equal(next().slept_ns, 70 + 10);
}

static void a_living_thread_is_not_subtracted_from_a_sum_of_exited_threads(void **state)
{
    (void)state;
    script_list(worker(7, 5, 100, 50));
    next();
    script_list(worker(7, 5, 100, 90));
    exit_as(total_of(1, 5, 70));
    assert_int_equal(next().slept_ns, 40 + 70);
}

static void a_total_is_reduced_by_no_more_threads_than_it_has_and_not_by_a_longer_one(void **state)
{
    (void)state;
    script_list(worker(7, 5, 100, 50));
    script_list(worker(8, 5, 100, 60));
    script_list(worker(9, 5, 100, 500));
    next();
    remove_tid(7);
    remove_tid(8);
    remove_tid(9);
    exit_as(total_of(1, 5, 200));
    assert_int_equal(next().slept_ns, 200 - 60);
    exit_as(worker(7, 5, 100, 51));
    exit_as(worker(9, 5, 100, 502));
    assert_int_equal(next().slept_ns, 1 + 2);
}

static void a_thread_that_was_wrongly_subtracted_from_a_total_is_put_right(void **state)
{
    (void)state;
    for (int others = 0; others <= 1; others++) {
        close_registry(state);
        open_registry(state);
        script_list(worker(7, 5, 100, 50));
        if (others == 1)
            script_list(worker(8, 5, 100, 40));
        next();
        remove_tid(7);
        remove_tid(8);
        next();
        exit_as(total_of(1, 5, 70)); /* of thread 8, or of a thread that no snapshot has seen */
        assert_int_equal(next().slept_ns, 20);
        exit_as(worker(7, 5, 100, 60));
        /* in sum 70 + 60, less what the first snapshot had accounted */
        assert_int_equal(next().slept_ns, (others == 1 ? 130 - 90 : 130 - 50) - 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_registry, close_registry)
        TEST(a_thread_with_a_reused_tid_is_another_thread),
        TEST(a_thread_that_a_snapshot_has_and_that_then_exits_has_its_end_in_the_next),
        TEST(a_late_final_reading_adds_only_the_time_not_yet_accounted),
        TEST(a_thread_missing_in_one_snapshot_continues_in_the_next_one),
        TEST(a_thread_that_gets_another_tid_by_exec_is_accounted_once),
        TEST(of_two_threads_with_the_same_start_the_one_with_the_tid_is_matched),
        TEST(a_sum_of_exited_threads_adds_only_the_time_not_yet_accounted),
        TEST(a_thread_whose_parent_exited_is_not_accounted_twice),
        TEST(final_readings_of_single_threads_are_used_before_sums_of_exited_threads),
        TEST(a_living_thread_is_not_subtracted_from_a_sum_of_exited_threads),
        TEST(a_total_is_reduced_by_no_more_threads_than_it_has_and_not_by_a_longer_one),
        TEST(a_thread_that_was_wrongly_subtracted_from_a_total_is_put_right),
        TEST(exits_that_are_read_late_belong_to_the_interval_only_if_the_snapshot_lacks_them),
        TEST(a_thread_that_exits_during_a_snapshot_that_lacks_it_belongs_to_its_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
