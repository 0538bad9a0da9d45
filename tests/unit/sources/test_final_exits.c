/* Tests exit records that wait for the final clock of their process. The pids are above the
 * kernel's limit of 2^22, so none is the pid of a real process. */
#include "sources/machine/final_exits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PID(n) (0x40000000 + (n))
#define SECOND 1000000000u
/* The records in these tests arrive between SENT_AFTER and SENT_BEFORE. */
#define SENT_AFTER (100ull * SECOND)
#define SENT_BEFORE (SENT_AFTER + SECOND)

struct fixture {
    struct final_exits exits;
    struct tasks_table table;
};

/* Adds the record of a process that slept, lived for `life_ns`, and may have run for 4 ns more. */
static void add(struct fixture *fixture, int number, uint64_t measured_ns, uint64_t life_ns)
{
    struct camp_task_exit exit = {
        .pid = PID(number),
        .is_process = 1,
        .measured_ns = measured_ns,
        .at_most_ns = measured_ns + 4,
        .elapsed_ns = life_ns,
        .voluntary_switches = 1,
    };

    snprintf(exit.name, sizeof exit.name, "x");
    assert_int_equal(final_exits_add(&fixture->exits, &exit, SENT_AFTER, SENT_BEFORE), CAMP_OK);
}

static void finish(struct fixture *fixture, int number, uint64_t measured_ns, uint64_t start_ns)
{
    const struct final_clock final = { PID(number), 0, start_ns, measured_ns, 0 };

    assert_int_equal(final_exits_add_final(&fixture->exits, &final), CAMP_OK);
    assert_int_equal(final_exits_match(&fixture->exits, &fixture->table), CAMP_OK);
}

static void settle(struct fixture *fixture, uint64_t now_ns)
{
    assert_int_equal(final_exits_finish(&fixture->exits, &fixture->table, now_ns), CAMP_OK);
}

static void assert_ended(struct fixture *fixture, unsigned count, uint64_t measured_ns,
                         uint64_t unread_ns)
{
    const struct ended_group *group = fixture->table.ended;

    assert_int_equal(fixture->table.ended_count, 1);
    assert_int_equal(group->count, count);
    assert_true(group->sum.measured == (double)measured_ns);
    assert_int_equal(fixture->table.unread_ns, unread_ns);
}

static void release(struct fixture *fixture)
{
    final_exits_release(&fixture->exits);
    tasks_table_release(&fixture->table);
}

static void the_cpu_clock_at_exit_replaces_the_cpu_time_in_the_exit_record(void **state)
{
    struct fixture fixture = { 0 };

    (void)state;
    add(&fixture, 1, 100, SECOND);
    add(&fixture, 2, 100, SECOND);
    finish(&fixture, 2, 160, SENT_AFTER - SECOND + 5);
    assert_ended(&fixture, 1, 160, 0);
    finish(&fixture, 1, 107, SENT_AFTER - SECOND + 5);
    assert_ended(&fixture, 2, 160 + 107, 0);
    settle(&fixture, SENT_BEFORE);
    assert_ended(&fixture, 2, 160 + 107, 0);
    release(&fixture);
}

static void a_process_without_a_clock_at_exit_is_accounted_by_its_exit_record(void **state)
{
    struct fixture fixture = { 0 };

    (void)state;
    add(&fixture, 1, 100, SECOND);
    assert_int_equal(fixture.table.ended_count, 0);
    settle(&fixture, SENT_BEFORE);
    assert_ended(&fixture, 1, 100, 4);
    settle(&fixture, SENT_BEFORE);
    assert_ended(&fixture, 1, 100, 4);
    release(&fixture);
}

static void a_late_clock_at_exit_adds_the_remaining_time_to_the_next_interval(void **state)
{
    struct fixture fixture = { 0 };

    (void)state;
    add(&fixture, 1, 100, SECOND);
    settle(&fixture, SENT_BEFORE);
    tasks_table_start_interval(&fixture.table);
    finish(&fixture, 1, 160, SENT_AFTER - SECOND + 5);
    assert_ended(&fixture, 0, 60, 0);
    assert_int_equal(fixture.exits.waiting_count, 0);
    release(&fixture);
}

/* The pid was reused: the final clock is that of a process that started later or earlier. */
static void the_clock_at_exit_of_another_process_with_the_same_pid_is_not_used(void **state)
{
    struct fixture fixture = { 0 };

    (void)state;
    add(&fixture, 1, 100, SECOND);
    finish(&fixture, 1, 160, SENT_BEFORE - SECOND + 1);
    assert_int_equal(fixture.table.ended_count, 0);
    finish(&fixture, 1, 160, SENT_AFTER - SECOND - 10000);
    assert_int_equal(fixture.table.ended_count, 0);
    finish(&fixture, 1, 160, SENT_BEFORE - SECOND);
    assert_ended(&fixture, 1, 160, 0);
    release(&fixture);
}

static void two_processes_with_the_same_pid_get_their_own_clocks_at_exit(void **state)
{
    struct fixture fixture = { 0 };

    (void)state;
    add(&fixture, 1, 1000, SECOND);
    add(&fixture, 1, 10, SECOND / 10);
    finish(&fixture, 1, 15, SENT_BEFORE - SECOND / 10);
    assert_ended(&fixture, 1, 15, 0);
    finish(&fixture, 1, 1600, SENT_AFTER - SECOND + 5);
    assert_ended(&fixture, 2, 15 + 1600, 0);
    release(&fixture);
}

static void an_exit_record_waits_thirty_seconds_for_the_clock_at_exit(void **state)
{
    struct fixture fixture = { 0 };

    (void)state;
    add(&fixture, 1, 100, SECOND);
    settle(&fixture, SENT_BEFORE + 29ull * SECOND);
    assert_int_equal(fixture.exits.waiting_count, 1);
    settle(&fixture, SENT_BEFORE + 30ull * SECOND);
    assert_int_equal(fixture.exits.waiting_count, 0);
    release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_clock_at_exit_replaces_the_cpu_time_in_the_exit_record),
        cmocka_unit_test(a_process_without_a_clock_at_exit_is_accounted_by_its_exit_record),
        cmocka_unit_test(a_late_clock_at_exit_adds_the_remaining_time_to_the_next_interval),
        cmocka_unit_test(the_clock_at_exit_of_another_process_with_the_same_pid_is_not_used),
        cmocka_unit_test(two_processes_with_the_same_pid_get_their_own_clocks_at_exit),
        cmocka_unit_test(an_exit_record_waits_thirty_seconds_for_the_clock_at_exit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
