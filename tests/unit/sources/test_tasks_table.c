/* Tests the table of known processes: which processes are new or gone, and in which row the end of
 * a process is accounted. The pids are above the kernel's limit of 2^22, so none is the pid of a
 * real process. */
#include "sources/machine/tasks_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define PID(n) (0x40000000 + (n))

static void merge(struct tasks_table *table, size_t count, const int *numbers)
{
    struct camp_pid pids[16] = { 0 };

    for (size_t i = 0; i < count; i++)
        pids[i] = (struct camp_pid){ .pid = PID(numbers[i]), .token = (uint64_t)numbers[i] };
    assert_int_equal(tasks_table_merge(table, pids, count, 0), CAMP_OK);
}

#define MERGE(table, ...)                                                                          \
    merge(table, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), (int[]){ __VA_ARGS__ })

static struct known_task *find(struct tasks_table *table, int number)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->tasks[i].pid == PID(number))
            return &table->tasks[i];
    }
    return NULL;
}

static void end(struct tasks_table *table, int number, uint64_t measured, uint64_t sampled,
                const char *name)
{
    struct camp_task_exit exit = { .pid = PID(number),
                                   .tid = PID(number),
                                   .parent = 1,
                                   .is_process = 1,
                                   .measured_ns = measured,
                                   .at_most_ns = measured,
                                   .sampled_ns = sampled };

    snprintf(exit.name, sizeof exit.name, "%s", name);
    assert_int_equal(tasks_table_end(table, &exit), CAMP_OK);
}

static void the_process_table_marks_new_processes_and_gone_processes(void **state)
{
    struct tasks_table table = { 0 };

    (void)state;
    MERGE(&table, 3, 5);
    assert_int_equal(table.count, 2);
    assert_int_equal(find(&table, 3)->flags, TASK_NEW);
    tasks_table_start_interval(&table);
    MERGE(&table, 1, 5, 9);
    assert_int_equal(table.count, 4);
    assert_int_equal(find(&table, 1)->flags, TASK_NEW);
    assert_int_equal(find(&table, 3)->flags, TASK_GONE);
    assert_int_equal(find(&table, 5)->flags, 0);
    assert_int_equal(find(&table, 9)->flags, TASK_NEW);
    for (size_t i = 1; i < table.count; i++)
        assert_true(table.tasks[i - 1].pid < table.tasks[i].pid);
    tasks_table_start_interval(&table);
    assert_null(find(&table, 3));
    assert_int_equal(table.count, 3);
    tasks_table_release(&table);
}

static void the_exit_record_of_a_listed_process_updates_the_row_of_the_process(void **state)
{
    struct tasks_table table = { 0 };

    (void)state;
    MERGE(&table, 7);
    find(&table, 7)->measured_ns = 100;
    tasks_table_start_interval(&table);
    end(&table, 7, 130, 4, "seven");
    MERGE(&table, 8);
    assert_int_equal(find(&table, 7)->measured_before_ns, 100);
    assert_int_equal(find(&table, 7)->measured_ns, 130);
    assert_int_equal(find(&table, 7)->sampled_ns, 4);
    assert_int_equal(find(&table, 7)->flags & (TASK_ENDED | TASK_GONE), TASK_ENDED | TASK_GONE);
    assert_string_equal(find(&table, 7)->name, "seven");
    assert_int_equal(table.ended_count, 0);
    tasks_table_release(&table);
}

static void a_process_that_no_snapshot_listed_is_accounted_under_its_name(void **state)
{
    struct tasks_table table = { 0 };

    (void)state;
    end(&table, 1, 10, 0, "short");
    end(&table, 2, 20, 30, "short");
    end(&table, 3, 5, 5, "other");
    assert_int_equal(table.ended_count, 2);
    assert_string_equal(table.ended[0].name, "other");
    assert_string_equal(table.ended[1].name, "short");
    assert_int_equal(table.ended[1].count, 2);
    assert_true(table.ended[1].sum.measured == 30);
    assert_true(table.ended[1].sum.sampled == 30);
    /* the sum of absolute errors: |10 - 0| + |20 - 30| */
    assert_true(table.ended[1].sum.absolute == 20);
    tasks_table_start_interval(&table);
    assert_int_equal(table.ended_count, 0);
    tasks_table_release(&table);
}

static void a_pid_reused_within_an_interval_counts_as_two_processes(void **state)
{
    struct tasks_table table = { 0 };

    (void)state;
    MERGE(&table, 4);
    find(&table, 4)->measured_ns = 50;
    tasks_table_start_interval(&table);
    end(&table, 4, 60, 0, "old");
    end(&table, 4, 7, 0, "reused");
    assert_int_equal(find(&table, 4)->measured_ns, 60);
    assert_int_equal(table.ended_count, 1);
    assert_true(table.ended[0].sum.measured == 7);
    tasks_table_release(&table);
}

static void a_process_that_never_slept_is_charged_the_upper_bound_in_its_exit_record(void **state)
{
    struct tasks_table table = { 0 };
    struct camp_task_exit exit = {
        .pid = PID(1), .is_process = 1, .name = "x", .measured_ns = 10, .at_most_ns = 14
    };

    (void)state;
    assert_int_equal(tasks_table_end(&table, &exit), CAMP_OK);
    assert_true(table.ended[0].sum.measured == 14);
    exit.voluntary_switches = 1;
    assert_int_equal(tasks_table_end(&table, &exit), CAMP_OK);
    assert_true(table.ended[0].sum.measured == 14 + 10);
    assert_int_equal(table.unread_ns, 4); /* the process that slept may have run for this time */
    tasks_table_release(&table);
}

/* It is unknown from which process the time was stolen, so it is subtracted once, from the first
 * exited processes. */
static void stolen_time_is_charged_to_no_process(void **state)
{
    struct tasks_table table = { .stolen_ns = 6 };
    struct camp_task_exit exit = {
        .pid = PID(1), .is_process = 1, .name = "x", .measured_ns = 10, .at_most_ns = 14
    };

    (void)state;
    assert_int_equal(tasks_table_end(&table, &exit), CAMP_OK);
    assert_true(table.ended[0].sum.measured == 10);
    assert_int_equal(tasks_table_end(&table, &exit), CAMP_OK);
    assert_true(table.ended[0].sum.measured == 10 + 12);
    assert_int_equal(tasks_table_end(&table, &exit), CAMP_OK);
    assert_true(table.ended[0].sum.measured == 10 + 12 + 14);
    assert_int_equal(table.unread_ns, 6);
    tasks_table_release(&table);
}

static void a_zombie_is_reported_once(void **state)
{
    struct tasks_table table = { 0 };

    (void)state;
    MERGE(&table, 4);
    tasks_table_start_interval(&table);
    end(&table, 4, 60, 0, "zombie");
    MERGE(&table, 4); /* a zombie is still listed */
    assert_int_equal(find(&table, 4)->flags, TASK_ENDED | TASK_NAMED);
    tasks_table_start_interval(&table);
    MERGE(&table, 4);
    assert_int_not_equal(find(&table, 4)->flags & TASK_REPORTED, 0);
    assert_int_equal(find(&table, 4)->measured_ns, find(&table, 4)->measured_before_ns);
    tasks_table_start_interval(&table);
    MERGE(&table, 5);
    tasks_table_start_interval(&table);
    assert_null(find(&table, 4));
    tasks_table_release(&table);
}

/* Merges a list that contains only the test's own process. */
static void merge_myself(struct tasks_table *table, uint64_t token, uint64_t previous_snapshot_ns)
{
    struct camp_pid me = { .pid = getpid(), .token = token };

    assert_int_equal(tasks_table_merge(table, &me, 1, previous_snapshot_ns), CAMP_OK);
}

static void a_process_that_started_before_the_last_snapshot_may_get_a_new_token(void **state)
{
    struct tasks_table table = { 0 };
    struct timespec now;

    (void)state;
    usleep(30000); /* start times have a resolution of 10 ms */
    clock_gettime(CLOCK_BOOTTIME, &now);
    merge_myself(&table, 1, 0);
    tasks_table_start_interval(&table);
    /* The test's process started before the last snapshot, so it only got a new token. */
    merge_myself(&table, 2, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.tasks[0].flags, 0);
    tasks_table_start_interval(&table);
    /* The test's process started after the last snapshot, so it reuses the pid of a process that is
     * gone. */
    merge_myself(&table, 3, 1);
    assert_int_equal(table.count, 2);
    assert_int_equal(table.tasks[0].flags, TASK_GONE);
    assert_int_equal(table.tasks[1].flags, TASK_NEW);
    tasks_table_release(&table);
}

static void thousands_of_ended_processes_are_sorted_and_added_up_by_name(void **state)
{
    struct tasks_table table = { 0 };

    (void)state;
    for (int i = 0; i < 10000; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d", (i * 7919) % 5000);
        end(&table, i, 1, 0, name);
    }
    assert_int_equal(table.ended_count, 5000);
    for (size_t i = 0; i < table.ended_count; i++) {
        assert_int_equal(table.ended[i].count, 2);
        assert_true(i == 0 || strcmp(table.ended[i - 1].name, table.ended[i].name) < 0);
    }
    tasks_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_table_marks_new_processes_and_gone_processes),
        cmocka_unit_test(the_exit_record_of_a_listed_process_updates_the_row_of_the_process),
        cmocka_unit_test(a_process_that_no_snapshot_listed_is_accounted_under_its_name),
        cmocka_unit_test(a_pid_reused_within_an_interval_counts_as_two_processes),
        cmocka_unit_test(a_process_that_never_slept_is_charged_the_upper_bound_in_its_exit_record),
        cmocka_unit_test(stolen_time_is_charged_to_no_process),
        cmocka_unit_test(a_zombie_is_reported_once),
        cmocka_unit_test(a_process_that_started_before_the_last_snapshot_may_get_a_new_token),
        cmocka_unit_test(thousands_of_ended_processes_are_sorted_and_added_up_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
