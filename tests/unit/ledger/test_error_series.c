/* The errors of each interval are computed from synthetic frames of the source "tasks". */
#include "ledger/errors/error_series.h"
#include "sources/machine/tasks_frame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND 1000000000u

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static void add(struct frame *frame, int64_t id, uint64_t measured_ns, uint64_t sampled_ns)
{
    /* tasks_add_row() copies all CAMP_NAME_SIZE bytes */
    static const char name[CAMP_NAME_SIZE] = "name";
    struct accuracy one = { 0 };

    accuracy_add(&one, (double)measured_ns, (double)sampled_ns);
    assert_int_equal(tasks_add_row(frame, id, 0, 1, name, &one), CAMP_OK);
}

static void the_cpu_times_of_an_interval_are_sums_over_all_processes(void **state)
{
    struct error_series series = { 0 };
    struct frame frame;

    (void)state;
    frame_init(&frame, &tasks_schema);
    frame.start_ns = 5 * (uint64_t)SECOND;
    frame.end_ns = 7 * (uint64_t)SECOND;
    frame.wall_clock_ns = 1700000000000000000;
    add(&frame, 1, 800000000, 0);
    add(&frame, 2, 200000000, 300000000);
    add(&frame, 3, 0, 40000000); /* samples of a process that did not run are in no error */
    assert_int_equal(error_series_add_frame(&series, &frame), CAMP_OK);
    assert_int_equal(series.count, 1);
    assert_int_equal(series.intervals[0].end_ns, 1700000000000000000);
    assert_int_equal(series.intervals[0].length_ns, 2 * (uint64_t)SECOND);
    assert_near(series.intervals[0].measured, 50);
    assert_near(series.intervals[0].sampled, 15);
    assert_near(series.intervals[0].error, -70);
    assert_near(series.intervals[0].absolute, 90);
    assert_near(series.intervals[0].maximum, 100);
    error_series_release(&series);
    frame_release(&frame);
}

/* If the unknown sampled times counted as 0, the error would be 100 %. */
static void an_interval_without_sampled_times_has_no_sampling_error(void **state)
{
    struct error_series series = { 0 };
    struct inverse_point points[1];
    struct frame frame;

    (void)state;
    frame_init(&frame, &tasks_measured_schema);
    frame.end_ns = SECOND;
    assert_non_null(frame_add(&frame));
    frame_values(&frame, 0)[TASKS_MEASURED] = 250000000;
    assert_int_equal(error_series_add_frame(&series, &frame), CAMP_OK);
    assert_near(series.intervals[0].measured, 25);
    assert_true(isnan(series.intervals[0].sampled));
    assert_true(isnan(series.intervals[0].absolute));
    assert_int_equal(error_series_points(&series, points), 0);
    error_series_release(&series);
    frame_release(&frame);
}

static void an_interval_without_cpu_time_has_no_sampling_error(void **state)
{
    struct error_series series = { 0 };
    struct accuracy accuracy = { 0 };
    struct inverse_point points[2];

    (void)state;
    assert_int_equal(error_series_add(&series, 1, SECOND, &accuracy, true), CAMP_OK);
    accuracy_add(&accuracy, 5e8, 4e8);
    assert_int_equal(error_series_add(&series, 2, SECOND, &accuracy, true), CAMP_OK);
    assert_near(series.intervals[0].measured, 0);
    assert_true(isnan(series.intervals[0].absolute));
    assert_int_equal(error_series_points(&series, points), 1);
    assert_near(points[0].cpu, 50);
    assert_near(points[0].error, 20);
    error_series_release(&series);
}

static void only_frames_of_the_source_named_check_are_accepted(void **state)
{
    static const struct column columns[] = { { "measured_ns", "", "", COLUMN_COUNTER, 0 } };
    const struct schema other = { "threads", columns, 1, 0 };
    const struct schema empty = { "tasks", columns, 0, 0 };
    struct error_series series = { 0 };
    struct frame frame;

    (void)state;
    frame_init(&frame, &other);
    assert_int_equal(error_series_add_frame(&series, &frame), CAMP_E_INVALID);
    frame_init(&frame, &empty);
    assert_int_equal(error_series_add_frame(&series, &frame), CAMP_E_INVALID);
    assert_int_equal(series.count, 0);
}

static void a_thousand_intervals_keep_their_order(void **state)
{
    struct error_series series = { 0 };
    struct accuracy accuracy = { 0 };

    (void)state;
    accuracy_add(&accuracy, 1, 1);
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(error_series_add(&series, i, SECOND, &accuracy, true), CAMP_OK);
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(series.intervals[i].end_ns, i);
    error_series_release(&series);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_times_of_an_interval_are_sums_over_all_processes),
        cmocka_unit_test(an_interval_without_sampled_times_has_no_sampling_error),
        cmocka_unit_test(an_interval_without_cpu_time_has_no_sampling_error),
        cmocka_unit_test(only_frames_of_the_source_named_check_are_accepted),
        cmocka_unit_test(a_thousand_intervals_keep_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
