/* SVG pictures and the axes of plots. */
#include "views/pictures/plot.h"
#include "views/pictures/svg.h"

#include <camp/camp.h>

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static char *text;
static size_t length;

static FILE *begin_text(void)
{
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    return stream;
}

static void assert_written(FILE *stream, const char *expected)
{
    assert_int_equal(fclose(stream), 0);
    if (strstr(text, expected) == NULL)
        fail_msg("no %s in %s", expected, text);
    free(text);
}

static void svg_numbers_have_at_most_two_decimals_in_any_locale(void **state)
{
    FILE *stream = begin_text();
    const struct svg_point points[] = { { 0, -0.001 },     { -1.005, 1.5 }, { 0.05, 100 },
                                        { 1234.567, 0.1 }, { NAN, 1e300 },  { -0.25, -12 } };

    (void)state;
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* a locale with a decimal comma, if it is installed */
    svg_polyline(stream, points, 6, &(struct svg_look){ .stroke = "#000" });
    setlocale(LC_NUMERIC, "C");
    assert_written(stream, "points=\"0,0 -1,1.5 0.05,100 1234.57,0.1 0,1000000000 -0.25,-12\" "
                           "fill=\"none\" stroke=\"#000\"");
}

static void assert_text(const char *given, const char *expected)
{
    FILE *stream = begin_text();

    svg_text(stream, (struct svg_point){ 1, 2 }, SVG_END, SVG_TICK, given);
    assert_written(stream, expected);
}

static void texts_of_any_bytes_become_valid_xml(void **state)
{
    (void)state;
    assert_text("a<b & \"c\">", ">a&lt;b &amp; &quot;c&quot;&gt;</text>");
    assert_text("b\xc3\xa4r \xe2\x82\xac", ">b\xc3\xa4r \xe2\x82\xac</text>");
    assert_text("\xff\x01x\xc3", ">\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd</text>");
    /* U+FFFF is valid UTF-8, but XML does not allow it. XML does not allow surrogates either. */
    assert_text("\xef\xbf\xbf", ">\xef\xbf\xbd</text>");
    assert_text("\xed\xa0\x80", ">\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd</text>");
    assert_text("x", "<text x=\"1\" y=\"2\" text-anchor=\"end\" class=\"tick\">x</text>");
}

static void a_picture_has_a_title_and_a_description(void **state)
{
    FILE *stream = begin_text();

    (void)state;
    svg_start(stream, 300, 200, "A & B", "what <is> seen");
    svg_circle(stream, (struct svg_point){ 1, 2 }, 3, &(struct svg_look){ .fill = "#fff" }, "<1>");
    svg_end(stream);
    fflush(stream);
    assert_non_null(strstr(text, " role=\"img\" width=\"300\" height=\"200\" "
                                 "viewBox=\"0 0 300 200\">\n<title>A &amp; B</title>\n"
                                 "<desc>what &lt;is&gt; seen</desc>"));
    assert_non_null(strstr(text, "<circle cx=\"1\" cy=\"2\" r=\"3\" fill=\"#fff\">"
                                 "<title>&lt;1&gt;</title></circle>"));
    assert_written(stream, "</svg>\n");
}

static void assert_ticks(double minimum, double maximum, size_t most, enum plot_axis_kind kind,
                         const double *expected, size_t count)
{
    const struct plot_axis axis = { kind, NULL, minimum, maximum };
    double ticks[PLOT_TICKS_MAXIMUM];

    assert_int_equal(plot_ticks(&axis, most, ticks), count);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(ticks[i] - expected[i]) < 1e-9 * fmax(1, fabs(expected[i])));
}

static void the_ticks_of_an_axis_are_round_values(void **state)
{
    const double percent[] = { 0, 20, 40, 60, 80, 100 }, small[] = { 0.002, 0.004, 0.006 },
                 below[] = { -50, 0, 50 };

    (void)state;
    assert_ticks(0, 100, 6, PLOT_LINEAR, percent, 6);
    assert_ticks(0.001, 0.0065, 4, PLOT_LINEAR, small, 3);
    assert_ticks(-60, 60, 4, PLOT_LINEAR, below, 3);
    assert_ticks(5, 5, 4, PLOT_LINEAR, percent, 0);
    assert_ticks(0, INFINITY, 4, PLOT_LINEAR, percent, 0);
}

static void the_ticks_of_a_time_axis_are_round_times(void **state)
{
    const double quarters[] = { 900, 1800, 2700 }, seconds[] = { 10.5, 11, 11.5 };
    /* ticks every 6 hours in a time zone one hour east of Greenwich */
    const double sixes[] = { 18000, 39600, 61200, 82800 };

    (void)state;
    setenv("TZ", "UTC0", 1);
    tzset();
    assert_ticks(600, 3000, 4, PLOT_TIME, quarters, 3);
    assert_ticks(10.2, 11.7, 4, PLOT_TIME, seconds, 3);
    setenv("TZ", "EST-1", 1);
    tzset();
    assert_ticks(0, 86400, 5, PLOT_TIME, sixes, 4);
}

static void an_axis_is_widened_to_round_limits(void **state)
{
    struct plot_axis axis = { PLOT_LINEAR, NULL, 3, 97 }, same = { PLOT_LINEAR, NULL, 7, 7 },
                     round = { PLOT_LINEAR, NULL, 0, 100 };

    (void)state;
    plot_widen(&axis);
    assert_true(axis.minimum == 0 && axis.maximum == 100);
    plot_widen(&round);
    assert_true(round.minimum == 0 && round.maximum == 100);
    plot_widen(&same);
    assert_true(same.minimum < 7 && same.maximum > 7);
}

static struct plot plot_of(FILE *stream)
{
    const struct plot plot = { .stream = stream,
                               .left = 10,
                               .top = 20,
                               .width = 100,
                               .height = 50,
                               .x = { PLOT_LINEAR, "x", 0, 10 },
                               .y = { PLOT_LINEAR, "y", 0, 100 },
                               .right = { PLOT_LINEAR, "z", 0, 2 } };

    return plot;
}

static void a_missing_value_interrupts_a_line(void **state)
{
    FILE *stream = begin_text();
    const struct plot plot = plot_of(stream);
    const double xs[] = { 0, 1, 2, 3, 4 }, ys[] = { 0, 100, NAN, 50, 0 }, lower[5] = { 0 };

    (void)state;
    assert_int_equal(plot_line(&plot, &plot.y, xs, ys, 5, &(struct svg_look){ 0 }), CAMP_OK);
    assert_int_equal(plot_area(&plot, &plot.y, xs, lower, ys, 5, &(struct svg_look){ 0 }), CAMP_OK);
    plot_dots(&plot, &plot.right, xs, lower, 1, 2, &(struct svg_look){ 0 });
    fflush(stream);
    assert_non_null(strstr(text, "<polyline points=\"10,70 20,20\" fill=\"none\"/>\n"
                                 "<polyline points=\"40,45 50,70\" fill=\"none\"/>\n"));
    assert_non_null(strstr(text, "<polygon points=\"10,70 20,20 20,70 10,70\"/>\n"
                                 "<polygon points=\"40,45 50,70 50,70 40,70\"/>\n"));
    assert_written(stream, "<circle cx=\"10\" cy=\"70\" r=\"2\"/>");
}

static void axes_have_ticks_and_titles_on_both_sides_of_a_picture(void **state)
{
    FILE *stream = begin_text();
    const struct plot plot = plot_of(stream);

    (void)state;
    plot_axes(&plot);
    fflush(stream);
    assert_non_null(strstr(text, ">x</text>"));
    assert_non_null(strstr(text, ">y</text>"));
    assert_non_null(strstr(text, ">z</text>"));
    assert_non_null(strstr(text, "<text x=\"10\" y=\"86\" text-anchor=\"middle\" "
                                 "class=\"tick\">0</text>"));
    assert_written(stream, "<text x=\"119\" y=\"24\" class=\"tick\">2</text>");
}

static void a_long_legend_continues_in_the_next_row(void **state)
{
    const struct plot_legend entries[] = {
        { "one", PLOT_AREA, { .fill = "#111" } },
        { "two", PLOT_LINE, { .stroke = "#222" } },
        { "three", PLOT_DOT, { .fill = "#333" } },
    };
    FILE *stream = begin_text();

    (void)state;
    assert_int_equal(plot_legend(stream, (struct svg_point){ 5, 30 }, 110, entries, 3), 2);
    fflush(stream);
    assert_non_null(strstr(text, "y=\"30\">two</text>"));
    assert_written(stream, "<text x=\"23\" y=\"48\">three</text>");
}

static void a_truncated_text_ends_with_a_whole_character(void **state)
{
    (void)state;
    assert_int_equal(svg_text_fit("b\xc3\xa4r", 10, 12), 3);
    assert_int_equal(svg_text_fit("b\xc3\xa4r", 10, 100), 4);
    assert_int_equal(svg_text_fit("bar", 10, 0), 0);
    assert_true(svg_text_width("b\xc3\xa4r", 10) == 18);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svg_numbers_have_at_most_two_decimals_in_any_locale),
        cmocka_unit_test(texts_of_any_bytes_become_valid_xml),
        cmocka_unit_test(a_picture_has_a_title_and_a_description),
        cmocka_unit_test(the_ticks_of_an_axis_are_round_values),
        cmocka_unit_test(the_ticks_of_a_time_axis_are_round_times),
        cmocka_unit_test(an_axis_is_widened_to_round_limits),
        cmocka_unit_test(a_missing_value_interrupts_a_line),
        cmocka_unit_test(axes_have_ticks_and_titles_on_both_sides_of_a_picture),
        cmocka_unit_test(a_long_legend_continues_in_the_next_row),
        cmocka_unit_test(a_truncated_text_ends_with_a_whole_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
