/* The clock of a thread's wait for a disk (microstates/linux/layout.h). */
#include "microstates/linux/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define BOOTED UINT64_C(1000000000000)

static void the_times_of_finished_disk_waits_add_up(void **state)
{
    uint64_t clock = 0;

    (void)state;
    clock = disk_wait_ended(disk_wait_started(clock, BOOTED), BOOTED + 30);
    clock = disk_wait_ended(disk_wait_started(clock, BOOTED + 100), BOOTED + 112);
    assert_int_equal(disk_waited_ns(clock, BOOTED + 112), 42);
    assert_int_equal(disk_waited_ns(clock, 2 * BOOTED), 42);
}

static void the_time_of_an_unfinished_disk_wait_grows(void **state)
{
    const uint64_t clock = disk_wait_started(disk_wait_ended(disk_wait_started(0, 10), 30), BOOTED);

    (void)state;
    assert_int_equal(disk_waited_ns(clock, BOOTED), 20);
    assert_int_equal(disk_waited_ns(clock, BOOTED + 5), 25);
}

static void the_end_of_a_disk_wait_that_never_started_is_ignored(void **state)
{
    const uint64_t clock = disk_wait_ended(disk_wait_started(0, 10), 30);

    (void)state;
    assert_int_equal(disk_wait_ended(clock, BOOTED), clock);
    assert_int_equal(disk_wait_ended(0, BOOTED), 0);
}

static void a_clock_that_is_behind_on_another_cpu_makes_no_disk_wait_negative(void **state)
{
    const uint64_t clock = disk_wait_started(0, BOOTED);

    (void)state;
    assert_int_equal(disk_waited_ns(clock, BOOTED - 1), 0);
    assert_int_equal(disk_waited_ns(disk_wait_ended(clock, BOOTED - 1), BOOTED), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_times_of_finished_disk_waits_add_up),
        cmocka_unit_test(the_time_of_an_unfinished_disk_wait_grows),
        cmocka_unit_test(the_end_of_a_disk_wait_that_never_started_is_ignored),
        cmocka_unit_test(a_clock_that_is_behind_on_another_cpu_makes_no_disk_wait_negative),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
