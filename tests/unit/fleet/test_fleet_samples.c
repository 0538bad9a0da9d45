/* Tests fleet_samples.h: counters of hosts that are scraped at different times become amounts of
 * common intervals, and each nanosecond is accounted once. */
#include "sources/fleet/fleet_inside.h"

#include "../tree.h"

#include <math.h>
#include <string.h>

#define S ((int64_t)1000000000)
#define T0 (1700000000 * S)
#define GAP (3 * S)

enum { USER, IDLE, COLUMNS };

static struct fleet_samples samples;
static struct fleet_member *member;
static uint64_t values[COLUMNS];
static struct fleet_amounts amounts = { .values = values };

static int begin(void **state)
{
    (void)state;
    fleet_samples_init(&samples, COLUMNS, (size_t)1 << 20);
    member = fleet_samples_find(&samples, "instance=a");
    assert_non_null(member);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fleet_samples_release(&samples);
    return 0;
}

/* Adds a scrape, `at` seconds after T0. */
static void scrape(double at, double user, double idle)
{
    const int64_t time_ns = T0 + llround(at * (double)S);

    assert_int_equal(fleet_samples_add(&samples, member, time_ns, USER, user, false), CAMP_OK);
    assert_int_equal(fleet_samples_add(&samples, member, time_ns, IDLE, idle, false), CAMP_OK);
    assert_int_equal(fleet_samples_add(&samples, member, time_ns, COLUMNS + FLEET_CPUS, 2, false),
                     CAMP_OK);
}

static bool amounts_until(double at)
{
    return fleet_amounts(&samples, member, T0 + llround(at * (double)S), GAP, &amounts);
}

static void an_interval_of_a_fleet_may_end_between_two_scrapes(void **state)
{
    (void)state;
    scrape(0, 10, 100);
    scrape(1, 11, 101);
    assert_false(amounts_until(0.25)); /* the first call determines the start */
    scrape(2, 11.5, 102.5);
    assert_true(amounts_until(1.5));
    /* 3/4 of the growth from 0 s to 1 s, and half of the growth from 1 s to 2 s */
    assert_int_equal(values[USER], 750000000 + 250000000);
    assert_int_equal(values[IDLE], 750000000 + 750000000);
    assert_int_equal(amounts.elapsed_ns, 2500000000);
    assert_false(amounts.is_partial);
}

static void the_time_between_two_scrapes_is_accounted_once(void **state)
{
    uint64_t user = 0, elapsed = 0;

    (void)state;
    for (int i = 0; i <= 40; i++)
        scrape(0.9 * i, 3.7 * i, 2 * 0.9 * i - 3.7 * i);
    amounts_until(0);
    for (int i = 1; i <= 36; i++) {
        assert_true(amounts_until(i));
        assert_int_equal(amounts.elapsed_ns, 2 * S);
        user += values[USER];
        elapsed += amounts.elapsed_ns;
    }
    assert_int_equal(elapsed, 2 * 36 * S);
    assert_in_range(user, 148 * (uint64_t)S - 36, 148 * (uint64_t)S + 36);
}

static void a_host_that_disappears_is_accounted_until_its_last_scrape(void **state)
{
    (void)state;
    scrape(0, 0, 0);
    scrape(1, 1, 1);
    amounts_until(0.5);
    assert_true(amounts_until(2));
    assert_int_equal(values[USER], 500000000);
    assert_int_equal(amounts.elapsed_ns, S);
    assert_false(amounts_until(3));
    assert_false(amounts_until(4));
}

static void a_host_with_a_long_gap_between_two_scrapes_is_marked_as_partial(void **state)
{
    (void)state;
    scrape(0, 0, 0);
    scrape(1, 1, 1);
    amounts_until(0);
    scrape(31, 31, 31);
    scrape(32, 31.5, 32.5);
    assert_true(amounts_until(31.5));
    assert_true(amounts.is_partial);
    assert_int_equal(values[USER], S + S / 4);
    assert_true(amounts_until(32));
    assert_false(amounts.is_partial);
    assert_int_equal(values[USER], S / 4);
}

static void a_restart_of_the_exporter_leaves_time_unaccounted(void **state)
{
    (void)state;
    scrape(0, 1000, 1000);
    scrape(1, 0.2, 0.4); /* the exporter restarted at 0.3 s */
    amounts_until(0);
    assert_true(amounts_until(1));
    assert_true(amounts.is_partial);
    assert_int_equal(values[USER], 200000000);
    assert_int_equal(values[IDLE], 400000000);
    assert_int_equal(amounts.elapsed_ns, 2 * S);
}

static void a_sum_of_series_that_is_less_by_rounding_is_no_restart(void **state)
{
    (void)state;
    scrape(0, 0.3, 0);
    fleet_samples_add(&samples, member, T0 + S, USER, 0.3 - 1e-15, false);
    fleet_samples_add(&samples, member, T0 + S, IDLE, 2, false);
    amounts_until(0);
    assert_true(amounts_until(1));
    assert_false(amounts.is_partial);
    assert_int_equal(values[USER], 0);
}

static void the_elapsed_time_of_a_host_is_measured_by_its_own_clock(void **state)
{
    (void)state;
    scrape(0, 0, 0);
    scrape(1, 1, 1.02);
    fleet_samples_add(&samples, member, T0, COLUMNS + FLEET_CLOCK, 50, false);
    fleet_samples_add(&samples, member, T0 + S, COLUMNS + FLEET_CLOCK, 51.01, false);
    amounts_until(0);
    assert_true(amounts_until(1));
    assert_int_equal(amounts.elapsed_ns, 2020000000);
}

static void a_counter_does_not_grow_before_its_second_sample(void **state)
{
    (void)state;
    fleet_samples_add(&samples, member, T0, USER, 5, false);
    fleet_samples_add(&samples, member, T0 + S, USER, 6, false);
    fleet_samples_add(&samples, member, T0 + S, IDLE, 900, false);
    fleet_samples_add(&samples, member, T0 + 2 * S, USER, NAN, false);
    amounts_until(0);
    assert_true(amounts_until(1));
    assert_int_equal(values[USER], S);
    assert_int_equal(values[IDLE], 0);
    assert_int_equal(amounts.elapsed_ns, S);
}

static void time_series_of_the_same_column_are_added_up(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fleet_samples_add(&samples, member, T0 + i * S, USER, 0.25 * i, true);
        fleet_samples_add(&samples, member, T0 + i * S, USER, 0.5 * i, true);
    }
    amounts_until(0);
    assert_true(amounts_until(1));
    assert_int_equal(values[USER], 750000000);
}

static void scrapes_may_arrive_in_any_order_and_more_than_once(void **state)
{
    (void)state;
    scrape(2, 2, 2);
    scrape(0, 0, 0);
    scrape(1, 1.5, 0.5);
    scrape(1, 1.5, 0.5);
    assert_int_equal(member->count, 3);
    amounts_until(0);
    assert_true(amounts_until(1));
    assert_int_equal(values[USER], 1500000000);
    scrape(0.5, 77, 77); /* the time of this sample is already accounted */
    assert_true(amounts_until(2));
    assert_int_equal(values[USER], 500000000);
}

static void the_scrape_period_does_not_depend_on_how_often_camp_reads(void **state)
{
    (void)state;
    scrape(0, 0, 0);
    scrape(1, 0, 0);
    fleet_update_period(member, 0);
    assert_int_equal(member->period_ns, S);
    scrape(11, 0, 0); /* samples are read every 10 s, although there is one each second */
    scrape(21, 0, 0);
    fleet_update_period(member, 10 * S);
    assert_int_equal(member->period_ns, S);
    /* Snapshots are 1 s apart, so they miss no sample, and the distance of 15 s is real. */
    scrape(36, 0, 0);
    fleet_update_period(member, S);
    scrape(51, 0, 0);
    fleet_update_period(member, S);
    assert_int_equal(member->period_ns, 15 * S);
    scrape(51 + 90000, 0, 0);
    scrape(51 + 180000, 0, 0); /* a distance of 25 hours is taken for an error */
    fleet_update_period(member, S);
    assert_int_equal(member->period_ns, 15 * S);
}

static void a_sample_is_found_by_a_time_that_differs_by_less_than_a_millisecond(void **state)
{
    (void)state;
    scrape(1, 10, 0);
    scrape(2, 20, 0);
    assert_null(fleet_sample_at(&samples, member, T0 + S / 2));
    assert_float_equal(fleet_sample_at(&samples, member, T0 + S + 400000)[USER], 10, 0);
    assert_float_equal(fleet_sample_at(&samples, member, T0 + 2 * S - 400000)[USER], 20, 0);
}

static void a_late_scrape_does_not_change_the_scrape_period(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        scrape(i, 0, 0);
    scrape(10.9, 0, 0);
    scrape(11, 0, 0);
    assert_int_equal(fleet_usual_period(member), S);
}

static void an_interval_of_a_fleet_does_not_end_before_its_start(void **state)
{
    (void)state;
    assert_int_equal(fleet_interval_end(10, 20, 5), 20);
    assert_int_equal(fleet_interval_end(20, 6, 5), 25);
    assert_int_equal(fleet_interval_end(20, 6, 0), 21);
    assert_int_equal(fleet_interval_end((uint64_t)-5, 5, 1),
                     5); /* wanted_ns is before boot if the lag is longer than the uptime */
}

static void a_host_without_recent_samples_is_forgotten(void **state)
{
    struct fleet_member *other = fleet_samples_find(&samples, "instance=b");

    (void)state;
    assert_ptr_not_equal(other, member);
    assert_ptr_equal(fleet_samples_find(&samples, "instance=a"), member);
    assert_int_not_equal(other->entity.id, member->entity.id);
    scrape(5, 0, 0);
    fleet_samples_forget(&samples, T0);
    assert_int_equal(samples.count, 1);
    assert_ptr_equal(fleet_samples_find(&samples, "instance=a"), member);
    assert_int_equal(fleet_samples_find(&samples, "instance=b")->count, 0);
}

static void a_negative_or_invalid_or_too_large_time_becomes_zero(void **state)
{
    (void)state;
    assert_int_equal(fleet_ns(-1), 0);
    assert_int_equal(fleet_ns(NAN), 0);
    assert_int_equal(fleet_ns(1e300), 0);
    assert_int_equal(fleet_ns(1.6), 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_interval_of_a_fleet_may_end_between_two_scrapes),
        TEST(the_time_between_two_scrapes_is_accounted_once),
        TEST(a_host_that_disappears_is_accounted_until_its_last_scrape),
        TEST(a_host_with_a_long_gap_between_two_scrapes_is_marked_as_partial),
        TEST(a_restart_of_the_exporter_leaves_time_unaccounted),
        TEST(a_sum_of_series_that_is_less_by_rounding_is_no_restart),
        TEST(the_elapsed_time_of_a_host_is_measured_by_its_own_clock),
        TEST(a_counter_does_not_grow_before_its_second_sample),
        TEST(time_series_of_the_same_column_are_added_up),
        TEST(scrapes_may_arrive_in_any_order_and_more_than_once),
        TEST(the_scrape_period_does_not_depend_on_how_often_camp_reads),
        TEST(a_sample_is_found_by_a_time_that_differs_by_less_than_a_millisecond),
        TEST(a_late_scrape_does_not_change_the_scrape_period),
        TEST(an_interval_of_a_fleet_does_not_end_before_its_start),
        TEST(a_host_without_recent_samples_is_forgotten),
        TEST(a_negative_or_invalid_or_too_large_time_becomes_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
