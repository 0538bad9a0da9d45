/* Tests what a registry of threads tells of an interval: rows, idle threads, groups and failures.
 * test_thread_missing.c has threads that are late or missing, and test_thread_registry_model.c has
 * random threads. */
#include "registry_intervals.h"

static int add_wait(void *context, const struct camp_states_wait *wait, uint32_t group)
{
    return add_idle(context, group, wait->state, 1, wait->elapsed_ns);
}

/* Groups threads by their names. */
static int by_name(void *context, const struct camp_thread_states *before,
                   const struct camp_thread_states *thread, uint32_t *group)
{
    (void)context;
    if (before == NULL || strcmp(before->name, thread->name) != 0)
        *group = (uint32_t)thread->name[0];
    return CAMP_OK;
}

static void a_thread_is_accounted_by_the_difference_between_two_snapshots(void **state)
{
    struct did now;

    (void)state;
    script_list(worker(7, 1, 100, 50));
    now = next();
    assert_int_equal(now.slept_ns, 50);
    assert_int_equal(now.new_rows, 1);
    script_list(worker(7, 1, 100, 80));
    now = next();
    assert_int_equal(now.slept_ns, 30);
    assert_int_equal(now.cpu_ns, 30);
    assert_int_equal(now.new_rows, 0);
}

static void the_waits_of_idle_threads_are_one_sum_without_a_call_for_each(void **state)
{
    struct did now;

    (void)state;
    for (int32_t tid = 1; tid <= 100; tid++)
        script_list(worker(tid, 1, 100, (uint64_t)(900 + tid)));
    assert_int_equal(next().rows, 100);
    assert_int_equal(registry.threads, 100);
    assert_int_equal(registry.processes, 100);
    for (int round = 0; round < 3; round++) {
        for (int tid = 1; tid <= 100; tid++)
            script.idle[tid] = true;
        script.told = 0;
        now = next();
        assert_int_equal(script.told, 0);
        assert_int_equal(now.rows, 0);
        assert_int_equal(now.idle_threads, 100);
        assert_int_equal(now.slept_ns, round == 0 ? 100 * 1000 - 5050 : 100 * 1000);
    }
    script_list(worker(5, 1, 100, 4000)); /* 3900 were accounted by the waits */
    remove_tid(6);
    exit_as(worker(6, 1, 100, 3950));
    now = next();
    assert_int_equal(now.rows, 2);
    assert_int_equal(now.idle_threads, 98);
    assert_int_equal(now.slept_ns, 100 + 50 + 98 * 1000);
    assert_int_equal(registry.threads, 99);
}

static void a_user_with_a_function_for_each_wait_gets_each_idle_thread(void **state)
{
    struct did now;

    (void)state;
    registry.user.waited = add_wait;
    registry.user.idle = NULL;
    script_list(worker(7, 1, 100, 900));
    script_list(worker(8, 1, 100, 950));
    next();
    script.idle[7] = script.idle[8] = true;
    now = next();
    assert_int_equal(now.idle_threads, 2);
    assert_int_equal(now.slept_ns, 1000 + 950);
}

static void an_idle_thread_is_counted_in_the_group_of_its_last_reading(void **state)
{
    struct camp_thread_states renamed = worker(7, 1, 100, 1000);

    (void)state;
    registry.user.group = by_name;
    script_list(worker(7, 1, 100, 900));
    assert_int_equal(next().group, 'w');
    script.idle[7] = true;
    assert_int_equal(next().group, 'w');
    strcpy(renamed.name, "other");
    renamed.state_ns[CAMP_STATE_TIMER] = 2000;
    renamed.time_ns = 2100;
    script_list(renamed);
    assert_int_equal(next().group, 'o');
    script.idle[7] = true;
    assert_int_equal(next().group, 'o');
    for (size_t i = 0; i < registry.cell_count; i++)
        assert_int_equal(registry.cells[i].threads, registry.cells[i].group == 'o');
}

static int group_base;

static int by_base(void *context, const struct camp_thread_states *before,
                   const struct camp_thread_states *thread, uint32_t *group)
{
    (void)context;
    (void)thread;
    if (before == NULL)
        *group = (uint32_t)group_base;
    return CAMP_OK;
}

static void all_threads_and_late_exits_are_grouped_again_on_request(void **state)
{
    struct did now;

    (void)state;
    registry.user.group = by_base;
    group_base = 3;
    script_list(worker(7, 1, 100, 900));
    script_list(worker(8, 1, 100, 900));
    assert_int_equal(next().group, 3);
    group_base = 4;
    registry.regroups = true;
    script.idle[7] = script.idle[8] = true;
    now = next();
    assert_int_equal(now.group, 4);
    assert_int_equal(now.slept_ns, 2000);
    script_add_exit(&script.exits_of_listing, worker(8, 1, 100, 2950));
    script.idle[7] = script.idle[8] = true;
    assert_int_equal(next().slept_ns, 2000); /* the exit belongs to the next interval */
    group_base = 5;
    registry.regroups = true;
    remove_tid(8);
    remove_tid(7);
    now = next();
    assert_int_equal(now.rows, 1);
    assert_int_equal(now.group, 5);
}

static void after_a_failed_snapshot_the_next_one_has_what_it_lacks(void **state)
{
    (void)state;
    script_list(worker(7, 1, 100, 900));
    script.result = CAMP_E_IO;
    assert_int_equal(thread_registry_read(&registry, NULL, NULL), CAMP_E_IO);
    assert_true(registry.regroups);
    assert_int_equal(next().slept_ns, 900);
    assert_false(registry.regroups);
    script.idle[7] = true;
    script.result = CAMP_E_IO;
    assert_int_equal(thread_registry_read(&registry, NULL, NULL), CAMP_E_IO);
    assert_int_equal(next().slept_ns, 1000);
}

static void a_thread_that_starts_and_exits_between_two_snapshots_is_accounted_once(void **state)
{
    struct did now;

    (void)state;
    next();
    exit_as(worker(20, 1, 1500, 10));
    assert_int_equal(thread_registry_read_exited(&registry, NULL, NULL), CAMP_OK);
    assert_int_equal(did.slept_ns, 10);
    now = next();
    assert_int_equal(now.slept_ns, 10);
    assert_int_equal(now.ended_rows, 1);
    assert_int_equal(now.new_rows, 1);
}

static void a_thread_older_than_the_session_has_states_but_no_counters_when_first_seen(void **state)
{
    struct camp_thread_states old = worker(7, 1, 100, 50);
    struct did now;

    (void)state;
    old.flags = CAMP_THREAD_OLDER;
    old.cpu_ns = 1000000;
    script_list(old);
    now = next();
    assert_int_equal(now.slept_ns, 50);
    assert_int_equal(now.cpu_ns, 0);
    assert_int_equal(now.new_rows, 0);
    old.cpu_ns += 20;
    script_list(old);
    assert_int_equal(next().cpu_ns, 20);
}

/* The parent of the thread exits, so the kernel gives the thread another parent. The total belongs
 * to the other parent. */
static size_t gone;

static void count_gone(void *context, const struct camp_thread_states *last)
{
    (void)context;
    (void)last;
    gone++;
}

static void a_thread_leaves_once_when_it_exits_or_is_missing(void **state)
{
    (void)state;
    registry.user.left = count_gone;
    gone = 0;
    script_list(worker(7, 5, 100, 50));
    script_list(worker(8, 5, 100, 50));
    next();
    remove_tid(7);
    remove_tid(8);
    exit_as(worker(7, 5, 100, 60));
    next();
    assert_int_equal(gone, 2);
    exit_as(total_of(1, 5, 70));
    next();
    assert_int_equal(gone, 2);
}

static int refuse(void *context, const struct camp_thread_states *since, uint32_t group)
{
    (void)context;
    (void)since;
    (void)group;
    return CAMP_E_NOMEM;
}

static void the_first_failure_of_the_user_is_the_result(void **state)
{
    (void)state;
    registry.user.did = refuse;
    script_list(worker(7, 5, 100, 50));
    assert_int_equal(thread_registry_read(&registry, NULL, NULL), CAMP_E_NOMEM);
}

static void each_value_of_a_thread_is_in_its_own_column(void **state)
{
    struct camp_thread_states thread = worker(7, 1, 100, 50);
    uint64_t values[THREADS_COLUMN_COUNT];

    (void)state;
    thread.system_calls = 3;
    thread.written_chars = 4;
    thread.sampled_ns = 5;
    thread_fill_values(values, &thread);
    assert_int_equal(values[CAMP_STATE_TIMER], 50);
    assert_int_equal(values[CAMP_STATE_USER], 0);
    assert_int_equal(values[THREADS_SYSTEM_CALLS], 3);
    assert_int_equal(values[THREADS_WRITTEN_CHARS], 4);
    assert_int_equal(values[THREADS_CPU], 50);
    assert_int_equal(values[THREADS_SAMPLED], 5);
    for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++)
        assert_memory_equal((const char *)&thread + thread_value_offset(i), &values[i],
                            sizeof values[i]);
}

static void what_an_idle_thread_did_is_its_wait(void **state)
{
    const struct camp_thread_states thread = worker(7, 1, 100, 50);
    const struct camp_states_wait wait = { .thread = &thread,
                                           .elapsed_ns = 30,
                                           .state = CAMP_STATE_TIMER };
    const struct camp_thread_states since = thread_waited(&wait);

    (void)state;
    assert_int_equal(since.begin_ns, 150);
    assert_int_equal(since.time_ns, 180);
    assert_int_equal(since.state_ns[CAMP_STATE_TIMER], 30);
    assert_int_equal(since.cpu_ns, 0);
    assert_string_equal(since.name, "worker");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_registry, close_registry)
        TEST(a_thread_is_accounted_by_the_difference_between_two_snapshots),
        TEST(the_waits_of_idle_threads_are_one_sum_without_a_call_for_each),
        TEST(a_user_with_a_function_for_each_wait_gets_each_idle_thread),
        TEST(an_idle_thread_is_counted_in_the_group_of_its_last_reading),
        TEST(all_threads_and_late_exits_are_grouped_again_on_request),
        TEST(after_a_failed_snapshot_the_next_one_has_what_it_lacks),
        TEST(a_thread_that_starts_and_exits_between_two_snapshots_is_accounted_once),
        TEST(a_thread_older_than_the_session_has_states_but_no_counters_when_first_seen),
        TEST(a_thread_leaves_once_when_it_exits_or_is_missing),
        TEST(the_first_failure_of_the_user_is_the_result),
        TEST(each_value_of_a_thread_is_in_its_own_column),
        TEST(what_an_idle_thread_did_is_its_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
