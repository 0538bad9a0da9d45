#include "program/intervals.h"

#include "counters/clock.h"
#include "program/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HOUR_NS (3600 * UINT64_C(1000000000))

static void deadlines_are_one_interval_apart_until_the_count_is_reached(void **state)
{
    struct intervals intervals = { .length_ns = HOUR_NS, .count = 2 };
    const uint64_t began = now_ns(CLOCK_MONOTONIC);
    uint64_t first;

    (void)state;
    assert_true(next_interval(&intervals));
    first = intervals.deadline_ns;
    assert_in_range(first, began + HOUR_NS, now_ns(CLOCK_MONOTONIC) + HOUR_NS);
    assert_true(next_interval(&intervals));
    assert_int_equal(intervals.deadline_ns, first + HOUR_NS);
    assert_int_equal(intervals.started, 2);
    assert_false(next_interval(&intervals));
}

static void the_first_interval_is_complete_even_just_after_a_boot(void **state)
{
    const uint64_t longer_than_uptime_ns = 2 * now_ns(CLOCK_MONOTONIC);
    struct intervals intervals = { .length_ns = longer_than_uptime_ns };

    (void)state;
    assert_true(next_interval(&intervals));
    assert_true(intervals.deadline_ns >= longer_than_uptime_ns + longer_than_uptime_ns / 2);
}

static void a_late_interval_keeps_its_schedule_unless_a_whole_interval_was_missed(void **state)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    struct intervals intervals = { .length_ns = 1000, .started = 1, .deadline_ns = now - 5000 };

    (void)state;
    assert_true(next_interval(&intervals));
    assert_true(intervals.deadline_ns >= now + 1000);
    intervals = (struct intervals){ .length_ns = HOUR_NS, .started = 1, .deadline_ns = now - 5000 };
    assert_true(next_interval(&intervals)); /* late by less than an interval */
    assert_int_equal(intervals.deadline_ns, now - 5000 + HOUR_NS);
}

static void no_interval_starts_after_a_stop_is_requested(void **state)
{
    struct intervals intervals = { .length_ns = 1 };

    (void)state;
    stop_requested = SIGINT;
    assert_false(next_interval(&intervals));
    stop_requested = 0;
    assert_true(next_interval(&intervals));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_are_one_interval_apart_until_the_count_is_reached),
        cmocka_unit_test(the_first_interval_is_complete_even_just_after_a_boot),
        cmocka_unit_test(a_late_interval_keeps_its_schedule_unless_a_whole_interval_was_missed),
        cmocka_unit_test(no_interval_starts_after_a_stop_is_requested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
