/* Tests intervals of differences on synthetic series whose truth is known: how often an interval
 * contains the truth, and how often a comparison without a difference reports one. */
#include "random_series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TRIALS 400

/* Returns the share of trials in which the interval of one row contains the true difference. */
static double coverage_of(size_t count, double alike, double truth)
{
    double wholes[MOST], before[MOST], after[MOST];
    size_t contained = 0;

    fill_ones(wholes, count);
    for (size_t i = 0; i < TRIALS; i++) {
        struct ratio a, b;
        struct difference difference;

        fill_alike(before, count, 50, alike);
        fill_alike(after, count, 50 + truth, alike);
        a = ratio_of(before, wholes, count, 1);
        b = ratio_of(after, wholes, count, 1);
        difference_of(&a, &b, 1, &difference);
        contained += difference.own.low <= truth && truth <= difference.own.high;
    }
    return (double)contained / TRIALS;
}

/* The standard error of a share of 0.95 in 400 trials is 0.011. */
static void the_interval_of_an_independent_series_contains_the_truth_in_95_of_100(void **unused)
{
    (void)unused;
    for (size_t count = 20; count <= 320; count *= 4) {
        const double coverage = coverage_of(count, 0, 0.5);

        if (!(coverage >= 0.93))
            fail_msg("of %zu intervals: %g", count, coverage);
    }
}

static void the_interval_of_a_correlated_series_contains_the_truth_as_often(void **unused)
{
    static const struct {
        size_t count;
        double alike, least;
    } cases[] = { { 20, 0.3, 0.95 }, { 20, 0.8, 0.95 },  { 20, 0.9, 0.95 },  { 60, 0.6, 0.95 },
                  { 60, 0.9, 0.95 }, { 200, 0.9, 0.94 }, { 500, 0.95, 0.93 } };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double coverage = coverage_of(cases[i].count, cases[i].alike, -1);

        if (!(coverage >= cases[i].least))
            fail_msg("of %zu intervals with correlation %g: %g", cases[i].count, cases[i].alike,
                     coverage);
    }
}

/* An interval that contains everything would pass the tests above. */
static void the_interval_is_not_much_wider_than_that_of_a_t_test(void **unused)
{
    double wholes[60], before[60], after[60], width = 0;
    const double exact = 2 * student_t_limit(0.05, 118) * sqrt(2.0 / 60);

    (void)unused;
    fill_ones(wholes, 60);
    for (size_t i = 0; i < TRIALS; i++) {
        struct ratio a, b;
        struct difference difference;

        fill_alike(before, 60, 5, 0);
        fill_alike(after, 60, 5, 0);
        a = ratio_of(before, wholes, 60, 1);
        b = ratio_of(after, wholes, 60, 1);
        difference_of(&a, &b, 1, &difference);
        width += difference.own.high - difference.own.low;
    }
    assert_true(width / TRIALS < 1.3 * exact);
    assert_true(width / TRIALS > 0.9 * exact);
}

/* Returns in how many of `trials` whole comparisons, none of whose rows differs, a row seems to. */
static size_t alarms_of(size_t trials, size_t rows, size_t count, double alike)
{
    double wholes[MOST], before[MOST], after[MOST];
    size_t ret = 0;

    fill_ones(wholes, count);
    for (size_t i = 0; i < trials; i++) {
        bool is_alarm = false;

        for (size_t row = 0; row < rows; row++) {
            struct ratio a, b;
            struct difference difference;

            fill_alike(before, count, 50, alike);
            fill_alike(after, count, 50, alike);
            a = ratio_of(before, wholes, count, 1);
            b = ratio_of(after, wholes, count, 1);
            difference_of(&a, &b, rows, &difference);
            is_alarm |= difference_judge(&difference, 0) != DIFFERENCE_NONE;
        }
        ret += is_alarm;
    }
    return ret;
}

static void a_comparison_without_a_difference_gives_a_false_alarm_in_at_most_5_of_100(void **unused)
{
    static const struct {
        size_t trials, rows, count;
        double alike;
    } cases[] = { { 400, 40, 60, 0.4 },
                  { 40, 200, BOOTSTRAP_FEWEST, 0 },
                  { 100, 200, BOOTSTRAP_FEWEST, 0.8 },
                  { 40, 200, 60, 0.8 } };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t alarms =
            alarms_of(cases[i].trials, cases[i].rows, cases[i].count, cases[i].alike);

        if (alarms > cases[i].trials / 20)
            fail_msg("%zu false alarms in %zu comparisons of %zu rows and %zu intervals with "
                     "correlation %g",
                     alarms, cases[i].trials, cases[i].rows, cases[i].count, cases[i].alike);
    }
}

static void a_difference_of_four_standard_errors_is_found(void **unused)
{
    double wholes[60], before[60], after[60];
    size_t more = 0, less = 0;

    (void)unused;
    fill_ones(wholes, 60);
    for (size_t i = 0; i < TRIALS; i++) {
        struct ratio a, b;
        struct difference difference;

        fill_alike(before, 60, 50, 0);
        fill_alike(after, 60, 50.9, 0);
        a = ratio_of(before, wholes, 60, 1);
        b = ratio_of(after, wholes, 60, 1);
        difference_of(&a, &b, 1, &difference);
        more += difference_judge(&difference, 0) == DIFFERENCE_MORE;
        difference_of(&b, &a, 1, &difference);
        less += difference_judge(&difference, 0) == DIFFERENCE_LESS;
    }
    assert_true(more > TRIALS * 9 / 10);
    assert_true(less > TRIALS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_of_an_independent_series_contains_the_truth_in_95_of_100),
        cmocka_unit_test(the_interval_of_a_correlated_series_contains_the_truth_as_often),
        cmocka_unit_test(the_interval_is_not_much_wider_than_that_of_a_t_test),
        cmocka_unit_test(a_comparison_without_a_difference_gives_a_false_alarm_in_at_most_5_of_100),
        cmocka_unit_test(a_difference_of_four_standard_errors_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
