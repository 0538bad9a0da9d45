/* Computes the errors of sampled CPU time for the samples that Cockcroft's paper (CMG98) prints. */
#include "ledger/accuracy.h"
#include "ledger/frame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROUNDING 0.0005 /* largest rounding error of a number with three decimals */

static struct accuracy read_sample(const char *name)
{
    struct accuracy accuracy = { 0 };
    char path[512];
    double measured, sampled;
    FILE *file;

    snprintf(path, sizeof path, "%s/paper/%s", getenv("CAMP_FIXTURES"), name);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%*d %lf %lf", &measured, &sampled) == 2)
        accuracy_add(&accuracy, measured, sampled);
    fclose(file);
    return accuracy;
}

/* The summary line of the paper, and the number of processes that it sums up. The paper does not
 * print all processes, and it rounds. Therefore each sum may differ by ROUNDING for each
 * process. */
struct summary_line {
    unsigned processes;
    double measured, sampled, error, absolute, maximum;
};

static void assert_near(double value, double expected, double allowed)
{
    if (fabs(value - expected) > allowed)
        fail_msg("%.4f, expected %.4f within %.4f", value, expected, allowed);
}

static void assert_summary(const struct accuracy *accuracy, const struct summary_line *line)
{
    double slack = ROUNDING * line->processes;
    double percent_slack = 2 * 100 * slack / line->measured;

    assert_near(accuracy->measured, line->measured, slack);
    assert_near(accuracy->sampled, line->sampled, slack);
    assert_near(error_percent(accuracy->measured, accuracy->sampled), line->error, percent_slack);
    assert_near(absolute_error_percent(accuracy), line->absolute, percent_slack);
    assert_near(maximum_error_percent(accuracy), line->maximum, 0.005);
}

static void the_sums_of_sample_1_in_figure_5_of_the_camp_paper_equal_the_printed_sums(void **state)
{
    struct accuracy accuracy = read_sample("figure-5-sample-1.txt");
    struct summary_line line = { 42, 5.763, 3.027, -47.48, 48.56, 100.00 };

    (void)state;
    assert_summary(&accuracy, &line);
    /* These two bounds are tighter than rounding requires, so they also find an error in a single
     * row. */
    assert_near(error_percent(accuracy.measured, accuracy.sampled), -47.42, 0.02);
    assert_near(absolute_error_percent(&accuracy), 48.57, 0.06);
}

static void the_sums_of_sample_2_in_figure_5_of_the_camp_paper_equal_the_printed_sums(void **state)
{
    struct accuracy accuracy = read_sample("figure-5-sample-2.txt");
    struct summary_line line = { 39, 3.152, 0.368, -88.33, 88.33, 100.00 };

    (void)state;
    assert_summary(&accuracy, &line);
    assert_near(absolute_error_percent(&accuracy), 88.29, 0.05);
}

static void errors_cancel_in_the_total_but_not_in_the_absolute_error(void **state)
{
    struct accuracy accuracy = { 0 };

    (void)state;
    accuracy_add(&accuracy, 10, 4);
    accuracy_add(&accuracy, 10, 16);
    assert_near(error_percent(accuracy.measured, accuracy.sampled), 0, 1e-9);
    assert_near(absolute_error_percent(&accuracy), 60, 1e-9);
    assert_near(maximum_error_percent(&accuracy), 60, 1e-9);
    assert_int_equal(accuracy.active, 2);
}

static void samples_of_a_process_that_used_no_cpu_time_are_counted_separately(void **state)
{
    struct accuracy accuracy = { 0 };

    (void)state;
    accuracy_add(&accuracy, 10, 10);
    accuracy_add(&accuracy, 0, 4);
    assert_int_equal(accuracy.active, 1);
    assert_near(absolute_error_percent(&accuracy), 0, 1e-9);
    assert_near(accuracy.stray, 4, 1e-9);
}

static void merged_statistics_equal_the_statistics_of_all_processes_together(void **state)
{
    struct accuracy all = { 0 }, first = { 0 }, second = { 0 };

    (void)state;
    for (int i = 0; i < 10; i++) {
        accuracy_add(&all, i, 3 * (i % 3));
        accuracy_add(i < 5 ? &first : &second, i, 3 * (i % 3));
    }
    accuracy_merge(&first, &second);
    assert_int_equal(first.active, all.active);
    assert_near(first.measured, all.measured, 1e-9);
    assert_near(first.sampled, all.sampled, 1e-9);
    assert_near(first.absolute, all.absolute, 1e-9);
    assert_near(first.maximum, all.maximum, 1e-9);
    assert_near(first.stray, all.stray, 1e-9);
}

static void the_sampling_error_is_undefined_without_measured_time(void **state)
{
    struct accuracy accuracy = { 0 };

    (void)state;
    assert_true(isnan(error_percent(0, 0)));
    assert_true(isnan(absolute_error_percent(&accuracy)));
    assert_true(isnan(maximum_error_percent(&accuracy)));
}

static const struct column two_columns[] = {
    { "a_ns", "a", "", COLUMN_STATE, CAMP_MEASURED },
    { "b_ns", "b", "", COLUMN_STATE, CAMP_MEASURED },
    { "n", "n", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const struct schema small_schema = { "small", two_columns, 3, 2 };

static void unaccounted_time_is_elapsed_time_minus_the_times_of_the_states(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &small_schema);
    assert_non_null(frame_add(&frame));
    frame.elapsed_ns[0] = 100;
    frame_values(&frame, 0)[0] = 30;
    frame_values(&frame, 0)[1] = 50;
    frame_values(&frame, 0)[2] = 1000;
    assert_int_equal(frame_unaccounted_ns(&frame, 0), 20);
    frame_values(&frame, 0)[1] = 101;
    assert_int_equal(frame_unaccounted_ns(&frame, 0), -31);
    frame_release(&frame);
}

static void a_frame_that_grows_keeps_its_rows(void **state)
{
    struct frame frame;

    (void)state;
    frame_init(&frame, &small_schema);
    for (int i = 0; i < 1000; i++) {
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = i;
        frame_values(&frame, (size_t)i)[2] = (uint64_t)i;
    }
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(frame.entities[i].id, i);
        assert_int_equal(frame.entities[i].count, 1);
        assert_int_equal(frame_values(&frame, i)[2], i);
        assert_int_equal(frame_values(&frame, i)[0], 0);
    }
    frame_clear(&frame);
    assert_int_equal(frame.entity_count, 0);
    frame_release(&frame);
}

static void a_counter_that_decreases_has_a_growth_of_0(void **state)
{
    (void)state;
    assert_int_equal(counted_since(5, 7), 2);
    assert_int_equal(counted_since(7, 5), 0);
    assert_int_equal(counted_since(7, 7), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sums_of_sample_1_in_figure_5_of_the_camp_paper_equal_the_printed_sums),
        cmocka_unit_test(the_sums_of_sample_2_in_figure_5_of_the_camp_paper_equal_the_printed_sums),
        cmocka_unit_test(errors_cancel_in_the_total_but_not_in_the_absolute_error),
        cmocka_unit_test(samples_of_a_process_that_used_no_cpu_time_are_counted_separately),
        cmocka_unit_test(merged_statistics_equal_the_statistics_of_all_processes_together),
        cmocka_unit_test(the_sampling_error_is_undefined_without_measured_time),
        cmocka_unit_test(unaccounted_time_is_elapsed_time_minus_the_times_of_the_states),
        cmocka_unit_test(a_frame_that_grows_keeps_its_rows),
        cmocka_unit_test(a_counter_that_decreases_has_a_growth_of_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
