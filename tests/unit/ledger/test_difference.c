/* Tests differences, their verdicts and the limits of Student's t. */
#include "random_series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

static void a_row_that_is_in_four_of_sixty_intervals_has_no_error(void **unused)
{
    double wholes[60] = { 0 }, parts[60] = { 0 };
    struct ratio four, five;

    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        wholes[i * 12] = 1;
        parts[i * 12] = i % 2 == 0 ? 0.9 : 0.1;
    }
    four = ratio_of(parts, wholes, 60, 1);
    wholes[48] = 1;
    parts[48] = 0.5;
    five = ratio_of(parts, wholes, 60, 1);
    assert_true(four.value == 0.5 && isinf(four.error));
    assert_true(five.value == 0.5 && isfinite(five.error) && five.freedom <= 4);
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
        cmocka_unit_test(a_long_interval_counts_as_much_as_several_short_ones),
        cmocka_unit_test(a_difference_below_the_smallest_of_interest_is_not_reported),
        cmocka_unit_test(a_series_of_19_intervals_is_too_short_for_a_verdict),
        cmocka_unit_test(two_constant_series_differ_without_doubt),
        cmocka_unit_test(one_burst_is_no_difference),
        cmocka_unit_test(a_ratio_to_a_sum_that_is_often_0_has_no_error),
        cmocka_unit_test(a_row_that_is_in_four_of_sixty_intervals_has_no_error),
        cmocka_unit_test(the_same_seed_gives_the_same_error_and_another_seed_a_similar_one),
        cmocka_unit_test(limits_of_student_t_are_those_of_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
