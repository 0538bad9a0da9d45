/* The arithmetic on causes, the groups of threads and the names, on synthetic data. */
#include "../commands/synthetic_causes.h"
#include "microstates/calls.h"
#include "sources/causes/cause_calls.h"
#include "sources/causes/cause_groups.h"
#include "sources/causes/cause_names.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void causes_that_exceed_their_state_are_reduced_to_it_in_proportion(void **state)
{
    struct cause causes[] = { { .wait_ns = 30 }, { .wait_ns = 60 }, { .wait_ns = 11 } };

    uint64_t reduced_ns = 0;

    (void)state;
    assert_int_equal(cause_fit(causes, 3, 150, &reduced_ns), 49);
    assert_int_equal(causes[1].wait_ns, 60);
    assert_int_equal(reduced_ns, 0);
    assert_int_equal(cause_fit(causes, 3, 50, &reduced_ns), 0);
    assert_int_equal(reduced_ns, 51);
    assert_int_equal(causes[0].wait_ns + causes[1].wait_ns + causes[2].wait_ns, 50);
    assert_int_equal(causes[0].wait_ns, 14);
    assert_int_equal(cause_fit(causes, 3, 0, &reduced_ns), 0);
    assert_int_equal(reduced_ns, 51 + 50);
    assert_int_equal(causes[0].wait_ns + causes[1].wait_ns + causes[2].wait_ns, 0);
    assert_int_equal(cause_fit(NULL, 0, 5, &reduced_ns), 5);
}

static const struct cause *row_of(const struct causes *causes, uint32_t state, uint32_t kind)
{
    for (size_t i = 0; i < causes->rows.count; i++) {
        if (causes->rows.items[i].state == state && causes->rows.items[i].kind == kind)
            return &causes->rows.items[i];
    }
    return NULL;
}

static void a_sleep_that_ended_without_a_cause_is_not_one_that_lasts(void **state)
{
    struct causes *causes = calloc(1, sizeof *causes);
    struct cause timer = { 12, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER, 0, 300 };
    const struct cause_list from = { &timer, 1, 1 };

    (void)state;
    assert_non_null(causes);
    causes->state_ns[12][CAMP_STATE_TIMER] = 1000;
    causes->open_ns[12][CAMP_STATE_TIMER] = 100;
    causes->state_ns[12][CAMP_STATE_PIPE] = 50; /* all of it lasts */
    causes->open_ns[12][CAMP_STATE_PIPE] = 50;
    causes->state_ns[12][CAMP_STATE_RUN_QUEUE] = 7;
    causes->open_ns[12][CAMP_STATE_RUN_QUEUE] = 7;
    assert_true(cause_make_rows(causes, &from));
    assert_int_equal(row_of(causes, CAMP_STATE_TIMER, CAMP_CAUSE_TIMER)->wait_ns, 300);
    assert_int_equal(row_of(causes, CAMP_STATE_TIMER, CAUSE_NOT_ENDED)->wait_ns, 100);
    assert_int_equal(row_of(causes, CAMP_STATE_TIMER, CAMP_CAUSE_UNKNOWN)->wait_ns, 600);
    assert_int_equal(row_of(causes, CAMP_STATE_PIPE, CAUSE_NOT_ENDED)->wait_ns, 50);
    assert_null(row_of(causes, CAMP_STATE_PIPE, CAMP_CAUSE_UNKNOWN));
    assert_int_equal(row_of(causes, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_UNKNOWN)->wait_ns, 7);
    free(causes->rows.items);
    free(causes);
}

static void differences_are_of_the_same_cause_and_never_negative(void **state)
{
    const struct camp_wait_cause before[] = { { 1, 2, 0, 3, 100 }, { 1, 2, 0, 4, 50 } };
    const struct camp_wait_cause after[] = {
        { 0, 2, 0, 3, 7 }, { 1, 2, 0, 3, 130 }, { 1, 2, 0, 4, 40 }, { 1, 2, 4, 0, 9 }
    };
    struct cause_list list = { 0 };

    (void)state;
    assert_true(cause_differences(&list, before, 2, after, 4));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].wait_ns, 7);
    assert_int_equal(list.items[1].wait_ns, 30);
    assert_int_equal(list.items[2].kind, 4);
    assert_int_equal(list.items[2].wait_ns, 9);
    free(list.items);
}

static void quantiles_are_right_to_a_factor_of_2_and_the_longest_is_exact(void **state)
{
    struct camp_wait_lengths before = { 0 }, after = { .longest_ns = 1000000, .longest_tid = 5 };
    struct wait_lengths lengths;

    (void)state;
    before.counts[10] = 5;
    after.counts[10] = 5 + 99; /* from 1,024 to 2,047 ns */
    after.counts[19] = 1;
    lengths = wait_lengths_since(&before, &after, 0);
    assert_int_equal(lengths.count, 100);
    assert_in_range(lengths.p50_ns, 1024, 2047);
    assert_in_range(lengths.p99_ns, 1024, 2048);
    assert_int_equal(lengths.longest_ns, 1000000);
    assert_int_equal(lengths.longest_tid, 5);
    lengths = wait_lengths_since(&after, &after, 0);
    assert_int_equal(lengths.count, 0);
    assert_int_equal(lengths.longest_ns, 0);
}

static bool no_name(int32_t pid, char ret[CAMP_STATES_NAME_SIZE])
{
    (void)pid;
    (void)ret;
    return false;
}

static uint32_t group_of(struct cause_groups *groups, int32_t tid, int32_t pid, uint32_t flags,
                         const char *name)
{
    struct camp_thread_states thread = { .tid = tid, .pid = pid, .flags = flags };
    uint32_t group = UINT32_MAX;

    snprintf(thread.name, sizeof thread.name, "%s", name);
    assert_true(cause_groups_find(groups, NULL, &thread, &group));
    return group;
}

static void a_thread_has_the_group_of_its_process_or_of_the_name_of_its_process(void **state)
{
    struct causes *causes = make_causes();
    struct cause_groups groups = { .read_name = no_name };

    (void)state;
    assert_true(cause_groups_set(&groups, causes->groups, causes->group_count));
    assert_int_equal(group_of(&groups, 7, 7, 0, "batch"), DB);
    assert_int_equal(group_of(&groups, 8, 7, 0, "worker"), DB);
    assert_int_equal(group_of(&groups, 20, 20, 0, "batch"), BATCH);
    assert_int_equal(group_of(&groups, 21, 20, 0, "worker"), BATCH);
    assert_int_equal(group_of(&groups, 20, 20, 0, "writer"), WRITER); /* after execve(2) */
    assert_int_equal(group_of(&groups, 21, 20, 0, "worker"), WRITER);
    assert_int_equal(group_of(&groups, 2, 2, CAMP_THREAD_KERNEL, "kthreadd"), 1);
    assert_int_equal(group_of(&groups, 22, 20, CAMP_THREAD_KERNEL, "iou-wrk"), WRITER);
    assert_int_equal(group_of(&groups, 30, 30, 0, "unknown"), 0);
    assert_int_equal(group_of(&groups, 0, 0, CAMP_THREAD_TOTAL, "batch"), BATCH);
    assert_int_equal(group_of(&groups, 0, 0, CAMP_THREAD_TOTAL, "unknown"), 0);
    cause_groups_release(&groups);
    release_causes(causes);
}

static void threads_find_their_groups_again_only_if_the_list_or_a_name_changed(void **state)
{
    struct causes *causes = make_causes();
    struct cause_groups groups = { .read_name = no_name };

    (void)state;
    assert_true(cause_groups_set(&groups, causes->groups, causes->group_count));
    assert_false(cause_groups_set(&groups, causes->groups, causes->group_count));
    assert_int_equal(group_of(&groups, 30, 30, 0, "late"), 0);
    assert_int_equal(group_of(&groups, 31, 30, 0, "worker"), 0);
    assert_false(cause_groups_set(&groups, causes->groups, causes->group_count));
    add_group(causes, 9, CAMP_GROUP_NAME, 0, "late");
    assert_true(cause_groups_set(&groups, causes->groups, causes->group_count));
    assert_int_equal(group_of(&groups, 31, 30, 0, "worker"), 9);
    assert_false(cause_groups_set(&groups, causes->groups, causes->group_count));
    assert_int_equal(group_of(&groups, 30, 30, 0, "writer"), WRITER);
    assert_true(cause_groups_set(&groups, causes->groups, causes->group_count));
    assert_int_equal(group_of(&groups, 31, 30, 0, "worker"), WRITER);
    assert_false(cause_groups_set(&groups, causes->groups, causes->group_count));
    snprintf(causes->groups[2].name, sizeof causes->groups[2].name, "db of a process");
    assert_false(cause_groups_set(&groups, causes->groups, causes->group_count));
    cause_groups_release(&groups);
    release_causes(causes);
}

static void of_two_equal_groups_the_one_with_causes_stays(void **state)
{
    struct causes *causes = make_causes();
    const size_t count = causes->group_count;
    struct cause_groups groups = { .read_name = no_name };

    (void)state;
    add_group(causes, 9, CAMP_GROUP_NAME, 0, "batch");
    add_group(causes, 10, CAMP_GROUP_PROCESS, 7, "");
    add_group(causes, 11, CAMP_GROUP_PROCESS, 8, "");
    assert_int_equal(
        cause_groups_remove_doubles(causes->groups, count + 3, UINT64_C(1) << 9 | 1 << DB),
        count + 1);
    assert_int_equal(causes->groups[2].number, DB);
    assert_int_equal(causes->groups[3].number, 9);
    assert_int_equal(causes->groups[count].number, 11);
    cause_groups_set(&groups, causes->groups, count + 1);
    assert_int_equal(group_of(&groups, 20, 20, 0, "batch"), 9);
    cause_groups_release(&groups);
    causes->groups[0] = causes->groups[1] = causes->groups[4];
    assert_int_equal(cause_groups_remove_doubles(causes->groups, 2, 0), 1);
    release_causes(causes);
}

static bool comm(int32_t pid, char ret[CAMP_STATES_NAME_SIZE])
{
    snprintf(ret, CAMP_STATES_NAME_SIZE, "comm-%d", pid);
    return pid != 12;
}

static void a_process_that_has_not_run_has_its_name_from_its_comm(void **state)
{
    struct causes *causes = make_causes();
    struct cause_groups groups = { .read_name = comm };
    char name[CAUSE_NAME_SIZE];

    (void)state;
    causes->group_count = 0;
    add_group(causes, 10, CAMP_GROUP_PROCESS, 11, "");
    add_group(causes, 11, CAMP_GROUP_PROCESS, 12, "");
    cause_groups_set(&groups, causes->groups, causes->group_count);
    cause_group_name(name, &causes->groups[0]);
    assert_string_equal(name, "comm-11 (11)");
    cause_group_name(name, &causes->groups[1]);
    assert_string_equal(name, "process 12");
    cause_groups_release(&groups);
    release_causes(causes);
}

static void a_watched_kernel_thread_is_noticed_if_no_process_has_its_name(void **state)
{
    struct causes *causes = make_causes();
    struct cause_groups groups = { .read_name = no_name, .watched.name = "kswapd0" };

    (void)state;
    cause_groups_set(&groups, causes->groups, causes->group_count);
    group_of(&groups, 31, 31, CAMP_THREAD_KERNEL, "kswapd");
    assert_false(groups.is_kernel);
    group_of(&groups, 32, 32, CAMP_THREAD_KERNEL, "kswapd0");
    assert_true(groups.is_kernel);
    group_of(&groups, 30, 30, 0, "kswapd0");
    assert_false(groups.is_kernel);
    group_of(&groups, 32, 32, CAMP_THREAD_KERNEL, "kswapd0");
    assert_false(groups.is_kernel);
    groups.watched.pid = 33;
    groups.has_process = false;
    group_of(&groups, 32, 32, CAMP_THREAD_KERNEL, "kswapd0");
    assert_false(groups.is_kernel);
    group_of(&groups, 33, 33, CAMP_THREAD_KERNEL, "kthreadd");
    assert_true(groups.is_kernel);
    cause_groups_release(&groups);
    release_causes(causes);
}

static void sleeps_in_calls_are_those_of_the_interval_the_longest_first(void **state)
{
    const struct camp_call_sleeps before[] = {
        { .pid = 7, .call = SYS_read, .state = 4, .argument = 3, .sleep_ns = 100, .count = 2 },
        { .pid = 7, .call = SYS_read, .state = 4, .argument = 4, .sleep_ns = 50, .count = 1 },
    };
    const struct camp_call_sleeps now[] = {
        { .pid = 7, .call = SYS_read, .state = 4, .argument = 4, .sleep_ns = 50, .count = 1 },
        { .pid = 7, .call = SYS_read, .state = 4, .argument = 3, .sleep_ns = 107, .count = 5 },
        { .pid = 8, .call = SYS_read, .state = 4, .argument = 3, .sleep_ns = 20, .count = 1 },
        { .pid = 7, .call = -1, .state = 4, .argument = 3, .sleep_ns = 30, .count = 4 },
    };
    struct call_list list = { 0 };

    (void)state;
    assert_true(cause_calls_since(&list, before, 2, now, 4));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].call, -1);
    assert_int_equal(list.items[1].pid, 8);
    assert_int_equal(list.items[2].sleep_ns, 7);
    assert_int_equal(list.items[2].count, 3);
    assert_true(cause_calls_since(&list, now, 4, now, 4));
    assert_int_equal(list.count, 0);
    assert_true(cause_calls_since(&list, NULL, 0, NULL, 0));
    free(list.items);
}

static void the_waits_for_children_that_have_ended_are_one_row(void **state)
{
    struct camp_call_sleeps calls[] = {
        { .pid = 7, .call = SYS_wait4, .argument = 101, .sleep_ns = 5, .count = 1 },
        { .pid = 7, .call = SYS_wait4, .argument = 12, .sleep_ns = 4, .count = 1 },
        { .pid = 7, .call = SYS_read, .argument = 102, .sleep_ns = 3, .count = 1 },
        { .pid = 7, .call = SYS_wait4, .argument = 103, .sleep_ns = 2, .count = 2 },
        { .pid = 7, .call = SYS_wait4, .argument = (uint64_t)-1, .sleep_ns = 1, .count = 1 },
    };
    struct call_list list = { .items = calls, .count = 5 };
    char folder[] = "/tmp/camp-causes-XXXXXX", path[64], name[CAUSE_NAME_SIZE];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/12", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    cause_calls_merge_children(&list, folder);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.items[0].sleep_ns, 7);
    assert_int_equal(list.items[0].count, 3);
    cause_object_name(name, &list.items[0], folder);
    assert_string_equal(name, "children that have ended");
    assert_int_equal(list.items[1].argument, 12);
    rmdir(path);
    rmdir(folder);
}

static void the_calls_of_a_state_are_at_most_its_sleeps_that_have_ended(void **state)
{
    struct causes *causes = make_causes();
    struct camp_call_sleeps calls[] = {
        { .pid = 7, .call = SYS_read, .state = CAMP_STATE_PIPE, .sleep_ns = 500000000, .count = 1 },
        { .pid = 8, .call = SYS_read, .state = CAMP_STATE_PIPE, .sleep_ns = 450000000, .count = 1 },
        { .pid = 7, .call = SYS_write, .state = CAMP_STATE_PIPE, .sleep_ns = 5, .count = 1 },
        { .pid = 7, .call = SYS_ppoll, .state = CAMP_STATE_TIMER, .sleep_ns = 4, .count = 1 },
    };
    struct call_list list = { .items = calls, .count = 4 };

    (void)state;
    /* Of the 400 ms in pipes, a sleep of 50 ms has not ended. There is no state timer, and no group
     * of the process 8. */
    cause_calls_fit(&list, causes);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].pid, 8);
    assert_int_equal(list.items[0].sleep_ns, 450000000);
    assert_int_equal(list.items[1].sleep_ns + list.items[2].sleep_ns, 350000000);
    assert_int_equal(list.items[2].sleep_ns, 3);
    cause_calls_fit(&list, causes); /* what fits stays as it is */
    assert_int_equal(list.items[1].sleep_ns + list.items[2].sleep_ns, 350000000);
    release_causes(causes);
}

static void names_are_of_the_group_and_the_device(void **state)
{
    struct causes *causes = make_causes();
    char name[CAUSE_NAME_SIZE], folder[] = "/tmp/camp-causes-XXXXXX", path[128];
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/36", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/36/actions", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("disk-1\n", file);
    fclose(file);
    cause_who(name, causes, CAMP_CAUSE_DEVICE, 36, folder);
    assert_string_equal(name, "disk-1 (irq 36)");
    cause_who(name, NULL, CAMP_CAUSE_DEVICE, 36, folder); /* as the exporter asks */
    assert_string_equal(name, "disk-1 (irq 36)");
    cause_who(name, causes, CAMP_CAUSE_DEVICE, 37, folder);
    assert_string_equal(name, "irq 37");
    cause_who(name, causes, CAMP_CAUSE_GROUP, DB, folder);
    assert_string_equal(name, "db (7)");
    cause_who(name, causes, CAMP_CAUSE_GROUP, 1, folder);
    assert_string_equal(name, "kernel threads");
    cause_who(name, causes, CAMP_CAUSE_TIMER, 0, folder);
    assert_string_equal(name, "");
    unlink(path);
    snprintf(path, sizeof path, "%s/36", folder);
    rmdir(path);
    rmdir(folder);
    release_causes(causes);
}

static void the_object_of_a_sleep_is_named_by_the_argument_of_its_call(void **state)
{
    char name[CAUSE_NAME_SIZE], folder[] = "/tmp/camp-causes-XXXXXX", path[128];
    FILE *file;
    struct camp_call_sleeps sleeps = { .pid = 7, .call = SYS_read, .argument = 3 };

    (void)state;
    cause_object_name(name, &sleeps, folder);
    if (camp_call_name(SYS_read) == NULL) { /* an architecture whose calls camp does not know */
        assert_string_equal(name, "");
        return;
    }
    assert_non_null(mkdtemp(folder));
    cause_object_name(name, &sleeps, folder);
    assert_string_equal(name, "fd 3"); /* there is no process 7 */
    snprintf(path, sizeof path, "%s/7", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    cause_object_name(name, &sleeps, folder);
    assert_string_equal(name, "fd 3 (closed)");
    rmdir(path);
    sleeps.call = SYS_futex;
    cause_object_name(name, &sleeps, folder);
    assert_string_equal(name, "futex 0x3");
    sleeps.call = SYS_wait4;
    sleeps.argument = 7;
    cause_object_name(name, &sleeps, folder);
    assert_null(strchr(name, '(')); /* there is no such process in the folder */
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/7/comm", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("sorter\n", file);
    fclose(file);
    cause_object_name(name, &sleeps, folder);
    assert_non_null(strstr(name, " (sorter)"));
    unlink(path);
    snprintf(path, sizeof path, "%s/7", folder);
    rmdir(path);
    sleeps.argument = (uint64_t)-1;
    cause_object_name(name, &sleeps, folder);
    assert_string_equal(name, "any child");
    cause_call_name(name, SYS_futex);
    assert_string_equal(name, "futex");
    cause_call_name(name, -1);
    assert_string_equal(name, "no system call");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_that_exceed_their_state_are_reduced_to_it_in_proportion),
        cmocka_unit_test(a_sleep_that_ended_without_a_cause_is_not_one_that_lasts),
        cmocka_unit_test(differences_are_of_the_same_cause_and_never_negative),
        cmocka_unit_test(quantiles_are_right_to_a_factor_of_2_and_the_longest_is_exact),
        cmocka_unit_test(a_thread_has_the_group_of_its_process_or_of_the_name_of_its_process),
        cmocka_unit_test(threads_find_their_groups_again_only_if_the_list_or_a_name_changed),
        cmocka_unit_test(of_two_equal_groups_the_one_with_causes_stays),
        cmocka_unit_test(a_process_that_has_not_run_has_its_name_from_its_comm),
        cmocka_unit_test(a_watched_kernel_thread_is_noticed_if_no_process_has_its_name),
        cmocka_unit_test(sleeps_in_calls_are_those_of_the_interval_the_longest_first),
        cmocka_unit_test(the_waits_for_children_that_have_ended_are_one_row),
        cmocka_unit_test(the_calls_of_a_state_are_at_most_its_sleeps_that_have_ended),
        cmocka_unit_test(names_are_of_the_group_and_the_device),
        cmocka_unit_test(the_object_of_a_sleep_is_named_by_the_argument_of_its_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
