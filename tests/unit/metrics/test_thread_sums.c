/* Tests that each nanosecond of a thread is accounted once, in the right group. The rules of
 * intervals have tests of their own (test_thread_registry.c). */
#include "metrics/thread_sums.h"

#include "../scripted_session.h"
#include "../tree.h"

static struct thread_sums sums;

static struct camp_thread_states thread_of(int32_t tid, int32_t pid, const char *name,
                                           uint64_t begin)
{
    struct camp_thread_states thread = {
        .tid = tid, .pid = pid, .parent = 1, .count = 1, .begin_ns = begin, .time_ns = begin
    };

    snprintf(thread.name, sizeof thread.name, "%s", name);
    thread.state = CAMP_STATE_TIMER;
    return thread;
}

/* Returns a later reading of a thread: `user` ns of CPU time and `asleep` ns of sleep are added. */
static struct camp_thread_states after(struct camp_thread_states thread, uint64_t user,
                                       uint64_t asleep)
{
    thread.state_ns[CAMP_STATE_USER] += user;
    thread.state_ns[CAMP_STATE_TIMER] += asleep;
    thread.cpu_ns += user;
    thread.time_ns += user + asleep;
    return thread;
}

static void open_sums(enum group_key key, const struct workloads *rules)
{
    struct members members;

    assert_int_equal(members_init(&members, key, rules, LABEL_CONTAINER, NULL), CAMP_OK);
    assert_int_equal(thread_sums_init(&sums, &members, 8, 20), CAMP_OK);
    sums.threads.snapshot_ns = 0;
    script.now = 1000;
}

static void close_sums(void)
{
    thread_sums_release(&sums);
    script_release();
}

static void take_snapshot(bool forget)
{
    assert_int_equal(thread_sums_read(&sums, NULL, forget, NULL), CAMP_OK);
    script.now += 1000;
    sums.threads.snapshot_ns = script.now - 900;
}

static void exit_as(struct camp_thread_states last)
{
    script.living[last.tid].tid = 0;
    script_add_exit(&script.exits, last);
}

static uint64_t total(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += sums.top.total[i];
    return sum;
}

static uint64_t group_total(const char *name)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sums.top.count; i++) {
        const struct top_k_group *group = &sums.top.groups[i];

        for (int k = 0;
             group->shown != NULL && strcmp(group->name, name) == 0 && k < CAMP_STATE_COUNT; k++)
            sum += group->shown[k];
    }
    return sum;
}

static void a_thread_is_accounted_between_snapshots_and_until_its_exit(void **state)
{
    const struct camp_thread_states a = thread_of(10, 10, "a", 100);
    const struct camp_thread_states b = after(a, 300, 600), c = after(b, 50, 1050);

    (void)state;
    open_sums(GROUP_NAME, NULL);
    script_list(b);
    take_snapshot(false);
    assert_int_equal(total(), 900);
    script.idle[10] = true;
    take_snapshot(false);
    assert_int_equal(total(), 900 + 1000);
    exit_as(c);
    take_snapshot(false);
    assert_int_equal(total(), 900 + 1100);
    assert_int_equal(group_total("a"), 2000);
    assert_int_equal(sums.top.total[SUM_MEASURED], 350);
    close_sums();
}

/* If a thread other than the first thread calls exec(2), it gets the tid of the first thread. */
static void a_thread_that_gets_another_tid_by_exec_is_accounted_once(void **state)
{
    const struct camp_thread_states first = after(thread_of(10, 10, "a", 100), 0, 900);
    const struct camp_thread_states other = after(thread_of(12, 10, "a", 200), 300, 500);
    struct camp_thread_states later = after(other, 40, 60), last = after(first, 1, 2);

    (void)state;
    open_sums(GROUP_NAME, NULL);
    script_list(first);
    script_list(other);
    take_snapshot(false);
    assert_int_equal(total(), 1700);
    last.tid = 12;
    exit_as(last);
    later.tid = 10;
    snprintf(later.name, sizeof later.name, "new");
    script_list(later);
    take_snapshot(false);
    assert_int_equal(total(), 1803);
    assert_int_equal(group_total("new"), 100);
    assert_int_equal(sums.members.count, 1);
    close_sums();
}

/* After a failed snapshot the groups have other numbers, but some threads still have their old
 * group number. */
static void after_a_failed_snapshot_each_thread_is_assigned_to_a_group_again(void **state)
{
    (void)state;
    open_sums(GROUP_NAME, NULL);
    script_list(after(thread_of(10, 10, "a", 100), 300, 600));
    take_snapshot(false);
    script.known[10].note = 3;
    script.idle[10] = true;
    script.result = CAMP_E_IO;
    assert_int_equal(thread_sums_read(&sums, NULL, true, NULL), CAMP_E_IO);
    take_snapshot(false);
    assert_int_equal(script.known[10].note, 1);
    assert_int_equal(group_total("a"), 900 + 1000);
    assert_false(sums.threads.regroups);
    close_sums();
}

static void threads_are_added_to_the_group_of_their_process(void **state)
{
    const struct camp_thread_states first = after(thread_of(10, 10, "server", 1100), 1, 0);
    struct camp_thread_states renamed = after(first, 4, 0);

    (void)state;
    open_sums(GROUP_NAME, NULL);
    script_list(first);
    script_list(after(thread_of(12, 10, "worker-1", 1200), 2, 0));
    take_snapshot(false);
    assert_int_equal(group_total("server"), 3);
    assert_int_equal(sums.threads.processes, 1);
    assert_int_equal(sums.threads.threads, 2);
    snprintf(renamed.name, sizeof renamed.name, "other");
    script_list(renamed);
    take_snapshot(false);
    assert_int_equal(group_total("server"), 3);
    /* "other" is the name of all groups that are not shown, so a group "other" gets a number */
    assert_int_equal(group_total("other (0)"), 4);
    close_sums();
}

static void a_process_is_matched_to_a_workload_again_only_after_its_name_changed(void **state)
{
    static const char text[] = "web name=^nginx$\ndb name=^post\n";
    const struct camp_thread_states b = after(thread_of(11, 11, "sh", 1100), 2, 0);
    struct camp_thread_states c = after(b, 4, 0);
    struct workloads rules;
    struct rule_fault fault;

    (void)state;
    assert_int_equal(workloads_parse(&rules, text, sizeof text - 1, &fault), CAMP_OK);
    open_sums(GROUP_NUMBER, &rules);
    script_list(after(thread_of(10, 10, "nginx", 1100), 1, 0));
    script_list(b);
    take_snapshot(false);
    snprintf(c.name, sizeof c.name, "postgres");
    script_list(c);
    script.idle[10] = true;
    take_snapshot(false);
    assert_int_equal(group_total("web"), 1 + script.known[10].until - 1101);
    assert_int_equal(group_total("(unmatched)"), 2);
    assert_int_equal(group_total("db"), 4);
    close_sums();
    workloads_release(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_accounted_between_snapshots_and_until_its_exit),
        cmocka_unit_test(a_thread_that_gets_another_tid_by_exec_is_accounted_once),
        cmocka_unit_test(after_a_failed_snapshot_each_thread_is_assigned_to_a_group_again),
        cmocka_unit_test(threads_are_added_to_the_group_of_their_process),
        cmocka_unit_test(a_process_is_matched_to_a_workload_again_only_after_its_name_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
