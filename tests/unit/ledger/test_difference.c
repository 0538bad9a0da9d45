/* Tests intervals of differences on synthetic series whose truth is known: how often an interval
 * contains the truth, and how often a comparison without a difference reports one. All numbers come
 * from a generator with a fixed seed, so a run is like the last one. */
#include "ledger/comparison/difference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MOST 500
#define TRIALS 400

static uint64_t state = 1;

/* xorshift64 (Marsaglia 2003) */
static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* A series of mean `mean` and standard deviation 1, each value of which has the correlation `alike`
 * with the one before (AR(1)). */
static void fill_alike(double *ret, size_t count, double mean, double alike)
{
    double value = normal();

    for (size_t i = 0; i < count; i++) {
        value = alike * value + sqrt(1 - alike * alike) * normal();
        ret[i] = mean + value;
    }
}

static void fill_ones(double *ret, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ret[i] = 1;
}

static struct ratio ratio_of(const double *parts, const double *wholes, size_t count, uint64_t seed)
{
    const struct ratio_series series = { parts, wholes, count };
    double scratch[BOOTSTRAP_SCRATCH(MOST)];
    struct ratio ret;

    ratio_of_series(&series, seed, scratch, &ret);
    return ret;
}

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

/* The ratio is that of the sums, not the mean of the ratios: intervals differ in length. */
static void a_long_interval_counts_as_much_as_several_short_ones(void **unused)
{
    const double parts[10] = { 10, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    const double wholes[10] = { 10, 1, 1, 1, 1, 1, 1, 1, 1, 2 };

    (void)unused;
    assert_true(ratio_of(parts, wholes, 10, 1).value == 0.5);
}

static void a_difference_below_the_smallest_of_interest_is_not_reported(void **unused)
{
    const struct difference surely = { 1.5, { 1.2, 1.8 }, { 1.1, 1.9 } };
    const struct difference perhaps = { 1.5, { 1.2, 1.8 }, { 0.9, 2.1 } };
    const struct difference less = { -1.5, { -1.8, -1.2 }, { -1.9, -1.1 } };

    (void)unused;
    assert_int_equal(difference_judge(&surely, 1), DIFFERENCE_MORE);
    assert_int_equal(difference_judge(&surely, 1.2), DIFFERENCE_NONE);
    assert_int_equal(difference_judge(&perhaps, 1), DIFFERENCE_NONE);
    assert_int_equal(difference_judge(&less, 1), DIFFERENCE_LESS);
    assert_int_equal(difference_judge(&less, 1.2), DIFFERENCE_NONE);
}

static void a_series_of_19_intervals_is_too_short_for_a_verdict(void **unused)
{
    double wholes[20], parts[20];
    struct ratio a, b;
    struct difference difference;

    (void)unused;
    fill_ones(wholes, 20);
    fill_alike(parts, 20, 50, 0);
    a = ratio_of(parts, wholes, 19, 1);
    b = ratio_of(parts, wholes, 20, 1);
    assert_true(isfinite(a.value) && isinf(a.error) && isfinite(b.error));
    difference_of(&a, &b, 1, &difference);
    assert_true(isfinite(difference.value) && isinf(difference.own.low));
    assert_int_equal(difference_judge(&difference, 0), DIFFERENCE_UNKNOWN);
}

static void two_constant_series_differ_without_doubt(void **unused)
{
    double wholes[20], parts[20];
    struct ratio a, b;
    struct difference difference;

    (void)unused;
    fill_ones(wholes, 20);
    memset(parts, 0, sizeof parts);
    a = ratio_of(parts, wholes, 20, 1);
    fill_ones(parts, 20);
    b = ratio_of(parts, wholes, 20, 1);
    difference_of(&a, &b, 1000, &difference);
    assert_true(difference.wide.low == 1 && difference.wide.high == 1);
    assert_int_equal(difference_judge(&difference, 0.5), DIFFERENCE_MORE);
    difference_of(&a, &a, 1000, &difference);
    assert_int_equal(difference_judge(&difference, 0), DIFFERENCE_NONE);
}

/* A process that ran in one interval of 60 may run as often in the other recording. */
static void one_burst_is_no_difference(void **unused)
{
    double wholes[60], none[60] = { 0 }, burst[60] = { 0 };
    struct ratio a, b;
    struct difference difference;

    (void)unused;
    fill_ones(wholes, 60);
    burst[30] = 1;
    a = ratio_of(none, wholes, 60, 1);
    b = ratio_of(burst, wholes, 60, 1);
    difference_of(&a, &b, 1, &difference);
    assert_int_equal(difference_judge(&difference, 0), DIFFERENCE_NONE);
}

static void a_ratio_to_a_sum_that_is_often_0_has_no_error(void **unused)
{
    double wholes[60] = { 0 }, parts[60] = { 0 };
    struct ratio ratio = ratio_of(parts, wholes, 60, 1);

    (void)unused;
    assert_true(isnan(ratio.value) && isinf(ratio.error));
    wholes[7] = 1;
    parts[7] = 0.5;
    ratio = ratio_of(parts, wholes, 60, 1);
    assert_true(ratio.value == 0.5 && isinf(ratio.error));
}

static void the_same_seed_gives_the_same_error_and_another_seed_a_similar_one(void **unused)
{
    double wholes[60], parts[60];
    struct ratio one, same, other;

    (void)unused;
    fill_ones(wholes, 60);
    fill_alike(parts, 60, 50, 0);
    one = ratio_of(parts, wholes, 60, 1);
    same = ratio_of(parts, wholes, 60, 1);
    other = ratio_of(parts, wholes, 60, 2);
    assert_true(one.error == same.error);
    assert_true(fabs(other.error / one.error - 1) < 0.2);
}

static void limits_of_student_t_are_those_of_tables(void **unused)
{
    (void)unused;
    assert_true(fabs(student_t_limit(0.05, 1) - 12.706205) < 1e-6);
    assert_true(fabs(student_t_limit(0.05, 10) - 2.228139) < 1e-6);
    assert_true(fabs(student_t_limit(0.001, 5) - 6.868827) < 1e-6);
    assert_true(fabs(student_t_limit(0.05, 1e6) - 1.959966) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_of_an_independent_series_contains_the_truth_in_95_of_100),
        cmocka_unit_test(the_interval_of_a_correlated_series_contains_the_truth_as_often),
        cmocka_unit_test(the_interval_is_not_much_wider_than_that_of_a_t_test),
        cmocka_unit_test(a_comparison_without_a_difference_gives_a_false_alarm_in_at_most_5_of_100),
        cmocka_unit_test(a_difference_of_four_standard_errors_is_found),
        cmocka_unit_test(a_long_interval_counts_as_much_as_several_short_ones),
        cmocka_unit_test(a_difference_below_the_smallest_of_interest_is_not_reported),
        cmocka_unit_test(a_series_of_19_intervals_is_too_short_for_a_verdict),
        cmocka_unit_test(two_constant_series_differ_without_doubt),
        cmocka_unit_test(one_burst_is_no_difference),
        cmocka_unit_test(a_ratio_to_a_sum_that_is_often_0_has_no_error),
        cmocka_unit_test(the_same_seed_gives_the_same_error_and_another_seed_a_similar_one),
        cmocka_unit_test(limits_of_student_t_are_those_of_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
