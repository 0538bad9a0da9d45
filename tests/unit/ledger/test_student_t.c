/* Compares the probabilities with pt() of R (tests/fixtures/glm/make.R) and with closed
 * formulas. */
#include "ledger/errors/inverse_fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_close(double t, double freedom, double expected, double tolerance)
{
    const double value = student_t_two_sided(t, freedom);

    if (!(fabs(value - expected) <= tolerance * expected))
        fail_msg("t = %g, %g degrees of freedom: %.17g instead of %.17g", t, freedom, value,
                 expected);
}

static void probabilities_of_the_student_t_distribution_equal_those_of_gnu_r(void **state)
{
    double t, freedom, expected;
    size_t count = 0;
    char path[512];
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/glm/student_t.answers", getenv("CAMP_FIXTURES"));
    file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    for (; fscanf(file, "%lf %lf %lf", &t, &freedom, &expected) == 3; count++) {
        assert_close(t, freedom, expected, freedom > 1000 ? 2e-10 : 1e-12);
        assert_close(-t, freedom, expected, freedom > 1000 ? 2e-10 : 1e-12);
    }
    fclose(file);
    assert_true(count > 400);
}

/* With 1 degree of freedom it is the distribution of Cauchy, and with 2 degrees it is an algebraic
 * function. */
static void student_t_equals_its_closed_form_for_one_and_two_degrees_of_freedom(void **state)
{
    (void)state;
    for (double t = 1e-3; t < 1e150; t *= 1.7) {
        const double length = sqrt(2 + t * t);

        assert_close(t, 1, 2 / M_PI * atan(1 / t), 1e-12);
        assert_close(t, 2, 2 / length / (length + t), 1e-12);
    }
}

static void a_very_large_t_value_has_probability_0(void **state)
{
    (void)state;
    assert_true(student_t_two_sided(INFINITY, 1) == 0);
    assert_true(student_t_two_sided(-INFINITY, 1e6) == 0);
    assert_true(student_t_two_sided(1e10, 100) == 0);
    assert_true(student_t_two_sided(1e308, 3) == 0);
}

static void invalid_arguments_of_the_student_t_distribution_have_no_probability(void **state)
{
    (void)state;
    assert_true(isnan(student_t_two_sided(NAN, 5)));
    assert_true(isnan(student_t_two_sided(1, NAN)));
    assert_true(isnan(student_t_two_sided(1, 0)));
    assert_true(isnan(student_t_two_sided(1, -2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_of_the_student_t_distribution_equal_those_of_gnu_r),
        cmocka_unit_test(student_t_equals_its_closed_form_for_one_and_two_degrees_of_freedom),
        cmocka_unit_test(a_very_large_t_value_has_probability_0),
        cmocka_unit_test(invalid_arguments_of_the_student_t_distribution_have_no_probability),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
