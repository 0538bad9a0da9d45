/* Compares the inverse curve with glm() of R (tests/fixtures/glm/make.R). */
#include "ledger/errors/inverse_fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINTS_MAXIMUM 1024

struct data {
    struct inverse_point points[POINTS_MAXIMUM];
    size_t count;
};

static FILE *fixture(const char *name, const char *ending)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/glm/%s.%s", getenv("CAMP_FIXTURES"), name, ending);
    file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    return file;
}

static void read_data(const char *name, struct data *ret)
{
    FILE *file = fixture(name, "csv");
    char line[128];

    *ret = (struct data){ 0 };
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        struct inverse_point *point = &ret->points[ret->count++];

        assert_true(ret->count <= POINTS_MAXIMUM);
        assert_int_equal(sscanf(line, "%lf,%lf", &point->cpu, &point->error), 2);
    }
    fclose(file);
}

static double answer(const char *name, const char *wanted)
{
    FILE *file = fixture(name, "answers");
    char what[64];
    double value;

    while (fscanf(file, "%63s %lf", what, &value) == 2) {
        if (strcmp(what, wanted) == 0) {
            fclose(file);
            return value;
        }
    }
    fclose(file);
    fail_msg("R did not say %s of %s", wanted, name);
    return NAN;
}

static void assert_as_r(const char *name, const char *what, double value)
{
    double expected = answer(name, what);

    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%s: %s is %.17g, R says %.17g", name, what, value, expected);
}

static void fit_of(const char *name, struct data *data, struct inverse_fit *ret)
{
    read_data(name, data);
    inverse_fit(data->points, data->count, ret);
    assert_int_equal(ret->outcome, INVERSE_FITTED);
}

static void fitted_coefficients_and_standard_errors_equal_those_of_gnu_r(void **state)
{
    static const char *const names[] = { "sparcstation", "e4000", "ultra", "clusters", "rising",
                                         "microsparc",   "e6000", "few",   "steep",    "three",
                                         "offset",       "wide",  "small", "many" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct data data;
        struct inverse_fit fit;

        fit_of(names[i], &data, &fit);
        assert_as_r(names[i], "a", fit.a);
        assert_as_r(names[i], "b", fit.b);
        assert_as_r(names[i], "a_error", fit.a_error);
        assert_as_r(names[i], "b_error", fit.b_error);
        assert_as_r(names[i], "b_probability", fit.b_probability);
        assert_as_r(names[i], "dispersion", fit.dispersion);
        assert_as_r(names[i], "deviance", fit.deviance);
        assert_as_r(names[i], "null_deviance", fit.null_deviance);
        assert_as_r(names[i], "aic", fit.aic);
        assert_as_r(names[i], "iterations", fit.iterations);
        assert_as_r(names[i], "used", (double)fit.used);
        assert_as_r(names[i], "left_out", (double)fit.left_out);
        assert_as_r(names[i], "truncated", fit.halved);
    }
}

static void the_fit_excludes_and_counts_errors_of_0_and_below(void **state)
{
    const struct inverse_point points[] = { { 1, 80 },  { 2, 0 },    { 4, 41 },
                                            { NAN, 3 }, { 9, 22 },   { 10, -5 },
                                            { 20, 12 }, { 25, NAN }, { INFINITY, 1 } };
    const struct inverse_point good[] = { { 1, 80 }, { 4, 41 }, { 9, 22 }, { 20, 12 } };
    struct inverse_fit fit, clean;

    (void)state;
    inverse_fit(points, 9, &fit);
    inverse_fit(good, 4, &clean);
    assert_int_equal(fit.outcome, INVERSE_FITTED);
    assert_int_equal(fit.used, 4);
    assert_int_equal(fit.left_out, 5);
    assert_true(fit.a == clean.a && fit.b == clean.b && fit.b_error == clean.b_error);
}

static void a_fit_of_points_on_a_curve_gives_its_exact_coefficients(void **state)
{
    struct inverse_point points[12];
    struct inverse_fit fit;

    (void)state;
    for (size_t i = 0; i < 12; i++)
        points[i] = (struct inverse_point){ (double)i, 1 / (0.01 + 0.002 * (double)i) };
    inverse_fit(points, 12, &fit);
    assert_int_equal(fit.outcome, INVERSE_FITTED);
    assert_true(fabs(fit.a - 0.01) < 1e-12 && fabs(fit.b - 0.002) < 1e-12);
    assert_true(fabs(inverse_fit_at(&fit, 5) - 50) < 1e-8);
}

static void a_failed_fit_reports_the_reason_of_the_failure(void **state)
{
    const struct inverse_point two[] = { { 1, 80 }, { 2, 40 }, { 3, 0 } };
    const struct inverse_point same[] = { { 7, 80 }, { 7, 40 }, { 7, 10 }, { 7, 20 } };
    const struct inverse_point idle[] = { { 0, 80 }, { 0, 40 }, { 0, 10 } };
    struct inverse_judgement judgement;
    struct inverse_fit fit;

    (void)state;
    inverse_fit(NULL, 0, &fit);
    assert_int_equal(fit.outcome, INVERSE_TOO_FEW);
    inverse_fit(two, 3, &fit);
    assert_int_equal(fit.outcome, INVERSE_TOO_FEW);
    assert_int_equal(fit.left_out, 1);
    inverse_fit(same, 4, &fit);
    assert_int_equal(fit.outcome, INVERSE_ONE_LOAD);
    inverse_fit(idle, 3, &fit);
    assert_int_equal(fit.outcome, INVERSE_ONE_LOAD);
    inverse_fit_judge(&fit, idle, 3, &judgement);
    assert_int_equal(judgement.verdict, VERDICT_NOT_FITTED);
    assert_true(isnan(inverse_fit_at(&fit, 1)));
}

/* The sums over a million equal loads have rounding errors, which must not look like different
 * loads. */
static void a_million_equal_loads_count_as_one_load(void **state)
{
    const size_t count = 1600000;
    struct inverse_point *points = calloc(count, sizeof *points);
    struct inverse_fit fit;

    (void)state;
    assert_non_null(points);
    for (size_t i = 0; i < count; i++)
        points[i] = (struct inverse_point){ 33.3, i % 2 == 0 ? 0.7 : 0.3 };
    inverse_fit(points, count, &fit);
    assert_int_equal(fit.outcome, INVERSE_ONE_LOAD);
    free(points);
}

/* At these loads, the rounding of the errors 3 * 0.05 makes the slope look significant. */
static void equal_errors_at_all_loads_mean_no_relation_between_error_and_load(void **state)
{
    static const double errors[] = { 3 * 0.05, 6 * 0.05, 100, 33.3, 1e-7 };
    struct inverse_judgement judgement;
    struct inverse_point flat[31];
    struct inverse_fit fit;

    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (size_t j = 0; j < 31; j++)
            flat[j] = (struct inverse_point){ 0.7 * (double)j + 1.3 * (double)(j % 3), errors[i] };
        inverse_fit(flat, 31, &fit);
        inverse_fit_judge(&fit, flat, 31, &judgement);
        assert_int_equal(fit.outcome, INVERSE_FITTED);
        assert_true(!isnan(fit.b_probability));
        assert_int_equal(judgement.verdict, VERDICT_NO_RELATION);
    }
}

static enum inverse_verdict verdict_from(double least, double most, size_t count,
                                         struct inverse_judgement *ret)
{
    static const double around[] = { 0.7, 1.2, 0.9, 1.4, 1.1 };
    struct inverse_point points[POINTS_MAXIMUM];
    struct inverse_fit fit;

    for (size_t i = 0; i < count; i++)
        points[i] =
            (struct inverse_point){ least + (most - least) * (double)i / (double)(count - 1),
                                    around[i % 5] };
    inverse_fit(points, count, &fit);
    assert_int_equal(fit.outcome, INVERSE_FITTED);
    inverse_fit_judge(&fit, points, count, ret);
    return ret->verdict;
}

static void a_fit_over_nearly_equal_loads_gets_no_verdict(void **state)
{
    struct inverse_judgement judgement;

    (void)state;
    assert_int_equal(verdict_from(195.6, 200, 30, &judgement), VERDICT_ONE_LOAD);
    assert_true(judgement.least_load == 195.6 && judgement.most_load == 200);
    assert_int_equal(verdict_from(79.7, 80.3, 30, &judgement), VERDICT_ONE_LOAD);
    assert_int_equal(verdict_from(79.7, 80.3, 5, &judgement), VERDICT_ONE_LOAD);
    assert_int_equal(verdict_from(100, 124, 30, &judgement), VERDICT_ONE_LOAD);
    assert_int_equal(verdict_from(100, 126, 30, &judgement), VERDICT_NO_RELATION);
    assert_int_equal(verdict_from(0, 1, 30, &judgement), VERDICT_NO_RELATION);
}

static void the_fitted_curve_has_no_value_beyond_its_pole(void **state)
{
    const struct inverse_fit rising = { .outcome = INVERSE_FITTED, .a = 0.1, .b = -0.01 };

    (void)state;
    assert_true(fabs(inverse_fit_at(&rising, 5) - 20) < 1e-9);
    assert_true(isnan(inverse_fit_at(&rising, 10)));
    assert_true(isnan(inverse_fit_at(&rising, 11)));
}

/* The load next to the pole has an error on one side of the pole, and no error on the other side.
 * The pole itself has none. This does not depend on the rounding of a + b x. */
static void the_fitted_curve_ends_exactly_at_its_pole(void **state)
{
    (void)state;
    for (int i = 1; i <= 100; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct inverse_fit fit = { .outcome = INVERSE_FITTED,
                                             .a = -0.01 * sign * i,
                                             .b = 0.0007 * sign };
            const double pole = -fit.a / fit.b;
            const double inside = nextafter(pole, sign > 0 ? INFINITY : -INFINITY);
            const double outside = nextafter(pole, sign > 0 ? -INFINITY : INFINITY);

            assert_true(isnan(inverse_fit_at(&fit, pole)));
            assert_true(isnan(inverse_fit_at(&fit, outside)));
            assert_true(inverse_fit_at(&fit, inside) > 0);
            assert_true(isfinite(inverse_fit_at(&fit, inside)));
        }
    }
}

static void a_fitted_curve_without_a_slope_has_no_pole(void **state)
{
    const struct inverse_fit flat = { .outcome = INVERSE_FITTED, .a = 0.25, .b = 0 };
    const struct inverse_fit nearly = { .outcome = INVERSE_FITTED, .a = 0.25, .b = 1e-310 };

    (void)state;
    assert_true(inverse_fit_at(&flat, 0) == 4 && inverse_fit_at(&flat, 1e6) == 4);
    assert_true(inverse_fit_at(&nearly, 0) == 4 && inverse_fit_at(&nearly, 1e6) == 4);
}

/* The quoted texts are from the paper. */
static void each_plot_gets_the_verdict_that_the_camp_paper_gives(void **state)
{
    static const struct {
        const char *name;
        enum inverse_verdict verdict;
    } cases[] = {
        { "sparcstation", VERDICT_FITS }, /* "a good fit to the inverse line" */
        { "e4000", VERDICT_FITS },        /* "several curves ... close together" */
        { "e6000", VERDICT_FITS },        /* "a reasonable fitted curve" */
        { "ultra", VERDICT_CLUSTERS },    /* "no overall curve could be fitted" */
        { "clusters", VERDICT_CLUSTERS }, /* clusters, although a curve explains more than half */
        { "microsparc", VERDICT_NO_RELATION }, /* "too scattered to obtain a good fit" */
        { "rising", VERDICT_RISES },
        { "steep", VERDICT_NO_RELATION },
        { "few", VERDICT_FEW }, /* "insufficient data" (E6000 web) */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct inverse_judgement judgement;
        struct inverse_fit fit;
        struct data data;

        fit_of(cases[i].name, &data, &fit);
        inverse_fit_judge(&fit, data.points, data.count, &judgement);
        if (judgement.verdict != cases[i].verdict)
            fail_msg("%s: verdict %d, explained %g, clustered %g, apart %g", cases[i].name,
                     judgement.verdict, judgement.explained, judgement.clustered, judgement.apart);
    }
}

/* The slope is significant, but the curve explains little. */
static void a_fit_that_explains_less_than_half_of_the_variance_counts_as_scattered(void **state)
{
    struct inverse_point points[60];
    struct inverse_judgement judgement;
    struct inverse_fit fit;

    (void)state;
    for (size_t i = 0; i < 60; i++) {
        static const double around[] = { 0.25, 0.5, 0.8, 1.0, 1.35, 2.1 };
        double cpu = 1 + (double)(i / 6);

        points[i] = (struct inverse_point){ cpu, around[i % 6] / (0.02 + 0.003 * cpu) };
    }
    inverse_fit(points, 60, &fit);
    inverse_fit_judge(&fit, points, 60, &judgement);
    assert_true(fit.b_probability < VERDICT_SIGNIFICANCE);
    assert_int_equal(judgement.verdict, VERDICT_SCATTERED);
}

static void points_on_two_close_curves_count_as_one_curve(void **state)
{
    struct inverse_point points[60];
    struct inverse_judgement judgement;
    struct inverse_fit fit;

    (void)state;
    for (size_t i = 0; i < 60; i++) {
        double cpu = 1 + (double)i;

        points[i] = (struct inverse_point){ cpu, (i % 2 == 0 ? 1 : 1.4) / (0.02 + 0.003 * cpu) };
    }
    inverse_fit(points, 60, &fit);
    inverse_fit_judge(&fit, points, 60, &judgement);
    assert_true(judgement.clustered >= VERDICT_CLUSTERED);
    assert_true(judgement.apart > 1.3 && judgement.apart < 1.5);
    assert_int_equal(judgement.verdict, VERDICT_FITS);
}

static void a_few_outliers_do_not_count_as_a_cluster(void **state)
{
    struct inverse_judgement judgement;
    struct inverse_fit fit;
    struct data data;

    (void)state;
    read_data("sparcstation", &data);
    for (size_t i = 0; i < 8; i++)
        data.points[i * 15].error *= 30;
    inverse_fit(data.points, data.count, &fit);
    inverse_fit_judge(&fit, data.points, data.count, &judgement);
    assert_int_not_equal(judgement.verdict, VERDICT_CLUSTERS);
    assert_true(judgement.clustered < VERDICT_CLUSTERED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fitted_coefficients_and_standard_errors_equal_those_of_gnu_r),
        cmocka_unit_test(the_fit_excludes_and_counts_errors_of_0_and_below),
        cmocka_unit_test(a_fit_of_points_on_a_curve_gives_its_exact_coefficients),
        cmocka_unit_test(a_failed_fit_reports_the_reason_of_the_failure),
        cmocka_unit_test(a_million_equal_loads_count_as_one_load),
        cmocka_unit_test(equal_errors_at_all_loads_mean_no_relation_between_error_and_load),
        cmocka_unit_test(a_fit_over_nearly_equal_loads_gets_no_verdict),
        cmocka_unit_test(the_fitted_curve_has_no_value_beyond_its_pole),
        cmocka_unit_test(the_fitted_curve_ends_exactly_at_its_pole),
        cmocka_unit_test(a_fitted_curve_without_a_slope_has_no_pole),
        cmocka_unit_test(each_plot_gets_the_verdict_that_the_camp_paper_gives),
        cmocka_unit_test(a_fit_that_explains_less_than_half_of_the_variance_counts_as_scattered),
        cmocka_unit_test(points_on_two_close_curves_count_as_one_curve),
        cmocka_unit_test(a_few_outliers_do_not_count_as_a_cluster),
    };

#ifdef __FMA__ /* compiled with -mfma, for x86-64 */
    if (!__builtin_cpu_supports("fma")) {
        puts("needs a CPU that fuses multiplication and addition");
        return 77;
    }
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
