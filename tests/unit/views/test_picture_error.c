/* The pictures of errors, and the sentences that describe them. */
#include "views/pictures/picture_error.h"

#include <camp/camp.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000

typedef int (*draw_function)(FILE *, const struct error_picture *);

/* Adds an interval of one second that ends at `second`. */
static void add(struct error_picture *picture, int64_t second, double measured, double absolute)
{
    const struct accuracy none = { 0 };
    struct error_interval *interval;

    assert_int_equal(
        error_series_add(&picture->series, (1700000000 + second) * SECOND, SECOND, &none, true),
        CAMP_OK);
    interval = &picture->series.intervals[picture->series.count - 1];
    interval->measured = measured;
    interval->absolute = absolute;
}

/* Adds 40 intervals. They are on one curve if `apart` is 1, or on two curves that differ by this
 * factor. */
static void make(struct error_picture *picture, double apart)
{
    *picture = (struct error_picture){ .source = "a <made> & up" };
    for (int i = 0; i < 40; i++) {
        const double cpu = 1 + i;

        add(picture, i, cpu,
            (i % 2 == 0 ? 1 : apart) * (1.1 - 0.05 * (i % 5)) / (0.01 + 0.002 * cpu));
    }
    assert_int_equal(error_picture_fit(picture), CAMP_OK);
}

static char *drawing(draw_function draw, const struct error_picture *picture)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    assert_int_equal(draw(stream, picture), CAMP_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

/* Returns the number of dots in the clipped area, which excludes the dot in the legend. */
static size_t dots_of(draw_function draw, const struct error_picture *picture)
{
    char *text = drawing(draw, picture);
    const char *area = strstr(text, "<clipPath");
    size_t count;

    assert_non_null(area);
    count = count_of(area, "fill=\"#c7590a\"");
    free(text);
    return count;
}

static void assert_drawn(draw_function draw, const struct error_picture *picture, const char *part,
                         bool expected)
{
    char *text = drawing(draw, picture);

    if ((strstr(text, part) != NULL) != expected)
        fail_msg("%s: %s in %s", part, expected ? "is not" : "is", text);
    free(text);
}

static void a_picture_of_errors_has_a_dot_for_each_interval_with_an_error(void **state)
{
    struct error_picture picture;

    (void)state;
    make(&picture, 1);
    assert_int_equal(dots_of(error_over_time, &picture), 40);
    assert_int_equal(dots_of(error_by_load, &picture), 40);
    add(&picture, 40, 0, NAN);
    assert_int_equal(error_picture_fit(&picture), CAMP_OK);
    assert_int_equal(dots_of(error_over_time, &picture), 40);
    assert_int_equal(dots_of(error_by_load, &picture), 40);
    error_picture_release(&picture);
}

static void a_curve_that_does_not_fit_the_errors_is_not_drawn(void **state)
{
    struct error_picture picture;

    (void)state;
    make(&picture, 1);
    assert_drawn(error_by_load, &picture, "No single curve fits", false);
    assert_drawn(error_by_load, &picture, "the inverse curve", true);
    assert_drawn(error_by_load, &picture, "<polyline", true);
    error_picture_release(&picture);
    make(&picture, 8);
    assert_drawn(error_by_load, &picture,
                 "No single curve fits: separate clusters, whose errors at one load differ", true);
    assert_drawn(error_by_load, &picture, ">no single curve fits<", true);
    assert_drawn(error_by_load, &picture, "the inverse curve", false);
    assert_drawn(error_by_load, &picture, "<polyline", false);
    error_picture_release(&picture);
}

static void a_picture_of_errors_describes_its_fit_in_sentences(void **state)
{
    struct error_picture picture;
    char sentences[ERROR_SENTENCES][ERROR_SENTENCE_SIZE];

    (void)state;
    make(&picture, 1);
    assert_int_equal(error_sentences(&picture, sentences), 3);
    assert_non_null(strstr(sentences[0], "explains 9"));
    assert_non_null(strstr(sentences[1], "a = 0.0"));
    assert_non_null(strstr(sentences[2], "40 intervals (0 without"));
    for (size_t i = 0; i < 3; i++)
        assert_drawn(error_by_load, &picture, sentences[i], true);
    assert_drawn(error_by_load, &picture, "a &lt;made&gt; &amp; up", true);
    error_picture_release(&picture);
}

static void a_gap_between_intervals_interrupts_the_line_of_errors(void **state)
{
    struct error_picture picture;
    char *text;

    (void)state;
    make(&picture, 1);
    text = drawing(error_over_time, &picture);
    assert_int_equal(count_of(strstr(text, "<clipPath"), "<polyline"), 1);
    free(text);
    for (int i = 0; i < 10; i++)
        add(&picture, 100 + i, 5, 20);
    text = drawing(error_over_time, &picture);
    assert_int_equal(count_of(strstr(text, "<clipPath"), "<polyline"), 2);
    assert_int_equal(dots_of(error_over_time, &picture), 50);
    free(text);
    error_picture_release(&picture);
}

static void a_picture_of_errors_without_intervals_has_a_note(void **state)
{
    struct error_picture picture = { .source = "nothing" };

    (void)state;
    assert_int_equal(error_picture_fit(&picture), CAMP_OK);
    assert_int_equal(dots_of(error_over_time, &picture), 0);
    assert_drawn(error_by_load, &picture,
                 "No curve could be fitted: fewer than 3 intervals with an error above 0.", true);
    add(&picture, 1, 5, 20);
    assert_int_equal(error_picture_fit(&picture), CAMP_OK);
    assert_int_equal(dots_of(error_over_time, &picture), 1);
    error_picture_release(&picture);
}

static void a_picture_of_errors_names_its_source_and_time_and_interval_count(void **state)
{
    struct error_picture picture;
    char *text;

    (void)state;
    make(&picture, 1);
    for (size_t i = 0; i < 2; i++) {
        text = drawing(i == 0 ? error_over_time : error_by_load, &picture);
        assert_non_null(strstr(text, "class=\"note\">Source "));
        assert_non_null(strstr(text, " (40 s): 40 intervals.</text>"));
        free(text);
    }
    error_picture_release(&picture);
}

/* If the data exceed a round value only slightly, the next round value is not on the axis. */
static void an_axis_does_not_extend_far_beyond_the_data(void **state)
{
    static const struct {
        double load;
        const char *has, *has_not;
    } cases[] = { { 200, ">200</text>", ">250</text>" },
                  { 200.4, ">200</text>", ">250</text>" },
                  { 198.5, ">200</text>", ">250</text>" },
                  { 100, ">100</text>", ">150</text>" },
                  { 230, ">250</text>", ">300</text>" } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error_picture picture = { .source = "made-up" };

        for (int j = 0; j < 4; j++)
            add(&picture, j, cases[i].load - (double)j, 7);
        assert_int_equal(error_picture_fit(&picture), CAMP_OK);
        assert_drawn(error_by_load, &picture, cases[i].has, true);
        assert_drawn(error_by_load, &picture, cases[i].has_not, false);
        error_picture_release(&picture);
    }
}

static void a_picture_of_very_many_errors_has_dots_for_only_some_of_the_intervals(void **state)
{
    struct error_picture picture = { .source = "many" };

    (void)state;
    for (int64_t i = 0; i < ERROR_DOTS + 1; i++)
        add(&picture, i, 1 + (double)(i % 50), 100 / (1.0 + (double)(i % 50)));
    assert_int_equal(error_picture_fit(&picture), CAMP_OK);
    assert_int_equal(dots_of(error_by_load, &picture), ERROR_DOTS / 2 + 1);
    assert_drawn(error_by_load, &picture, "One interval in 2 is shown; the fit is of all.", true);
    error_picture_release(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_of_errors_has_a_dot_for_each_interval_with_an_error),
        cmocka_unit_test(a_curve_that_does_not_fit_the_errors_is_not_drawn),
        cmocka_unit_test(a_picture_of_errors_describes_its_fit_in_sentences),
        cmocka_unit_test(a_gap_between_intervals_interrupts_the_line_of_errors),
        cmocka_unit_test(a_picture_of_errors_without_intervals_has_a_note),
        cmocka_unit_test(a_picture_of_errors_names_its_source_and_time_and_interval_count),
        cmocka_unit_test(an_axis_does_not_extend_far_beyond_the_data),
        cmocka_unit_test(a_picture_of_very_many_errors_has_dots_for_only_some_of_the_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
