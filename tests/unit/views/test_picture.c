/* Dots, colours and areas of pictures are at the computed positions. */
#include "picture_drawing.h"

/* Finds the position of a dot in the drawn triangle, relative to the left corner and scaled to
 * height 1. */
static void place_of(const char *name, double *ret_x, double *ret_y)
{
    double corners[6], x = 0, y = 0;
    const char *at = strstr(svg, "<polygon points=\"");
    char title[80];

    assert_non_null(at);
    assert_int_equal(sscanf(at, "<polygon points=\"%lf,%lf %lf,%lf %lf,%lf", &corners[0],
                            &corners[1], &corners[2], &corners[3], &corners[4], &corners[5]),
                     6);
    snprintf(title, sizeof title, "<title>%s, CPU", name);
    at = strstr(svg, title);
    assert_non_null(at);
    while (strncmp(at, "<circle", 7) != 0)
        at--;
    assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
    *ret_y = (corners[3] - y) / (corners[3] - corners[1]);
    *ret_x = (x - corners[2]) / (corners[3] - corners[1]);
    assert_true(fabs((corners[4] - corners[2]) / (corners[3] - corners[1]) - 2 / sqrt(3)) < 1e-4);
}

static void assert_place(const char *name, double x, double y)
{
    double found_x, found_y;

    place_of(name, &found_x, &found_y);
    if (!(fabs(found_x - x) < 0.005 && fabs(found_y - y) < 0.005))
        fail_msg("%s is at (%.4f, %.4f), not at (%.2f, %.2f)", name, found_x, found_y, x, y);
}

/* Figure 3 of the paper by Gunther and Poder has dots at (0.577, 0.333) and (0.47, 0.62). For the
 * second dot, the figure and the text of the paper have the lower vertices in different orders.
 * This test uses the order of the figure. */
static void the_dots_of_figure_3_of_the_camp_paper_are_drawn_at_the_printed_positions(void **state)
{
    (void)state;
    begin(0);
    add("centroid", 1.0 / 3, 1.0 / 3, 1.0 / 3, 0);
    add("figure", 0.62, 0.28, 0.10, 0);
    add("top", 1, 0, 0, 0);
    add("left", 0, 1, 0, 0);
    add("right", 0, 0, 1, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    /* the positions in the paper are rounded to two digits */
    assert_place("centroid", 0.577, 0.333);
    assert_place("figure", 0.47, 0.62);
    assert_place("top", 0.577, 1);
    assert_place("left", 0, 0);
    assert_place("right", 1.155, 0);
    assert_int_equal(count_of(DOT), 5);
    assert_says(": 5 entities.");
    assert_says("Unaccounted: nowhere");
    assert_says(">75 %</text>");
}

static void dots_at_the_same_position_are_spread_and_counted(void **state)
{
    double x, y;

    (void)state;
    begin(0);
    for (size_t i = 0; i < 3; i++)
        add("few", 0.5, 0.5, 0, 0);
    for (size_t i = 0; i < 40; i++)
        add("many", 0, 0.5, 0.5, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT), 3 + 7);
    assert_int_equal(count_of(" dots</text>"), 1);
    assert_says(">40 dots</text>");
    /* The first dot at the place is drawn last, at its exact position. place_of() finds another
     * dot. */
    place_of("many", &x, &y);
    assert_true(fabs(y) > 0.001 || fabs(x - 1 / sqrt(3)) > 0.001);
    assert_true(fabs(y) < 0.03 && fabs(x - 1 / sqrt(3)) < 0.03);
}

/* Returns the radius of the first ring of this class after the title of the dot `name`. */
static double ring_radius(const char *class, const char *name)
{
    char word[80];
    const char *at;
    double radius = 0;

    snprintf(word, sizeof word, "<title>%s, CPU", name);
    at = strstr(svg, word);
    assert_non_null(at);
    snprintf(word, sizeof word, "class=\"%s\"", class);
    at = strstr(at, word);
    assert_non_null(at);
    while (strncmp(at, " r=\"", 4) != 0)
        at--;
    assert_int_equal(sscanf(at, " r=\"%lf\"", &radius), 1);
    return radius;
}

static void a_dot_with_unaccounted_time_has_a_ring(void **state)
{
    (void)state;
    begin(0);
    add("whole", 0.5, 0.5, 0, 0);
    add("nearly", 0.5, 0.4, 0.096, 0);
    add("missing", 0.3, 0.3, 0.1, 0);
    add("twice", 0.9, 0.9, 0, 0);
    add("nowhere", 0, 0, 0, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of("class=\"missing\""), 1);
    assert_int_equal(count_of("class=\"over\""), 1);
    assert_says("of 2 dots up to 100.0 % of the time is missing (red rings); of 1 dot up to 80.0 % "
                "was accounted twice (black rings)");
    assert_says("missing, CPU 30.0 %, idle 30.0 %, wait 10.0 %, missing 30.0 %");
    assert_says("1 more have no time at any vertex");
}

static void a_picture_reports_a_state_without_a_corner_of_the_triangle_as_left_out(void **state)
{
    (void)state;
    begin(0);
    add("a", 0.25, 0.25, 0.25, 0.25);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_says("Left out: up to 25.0 % of the time of a row is at no vertex (lock); of 1 dot more "
                "than 5 % (broken blue rings).");
    assert_says("left out 25.0 %");
    assert_place("a", 0.577, 0.333);
    draw(PICTURE_BARRY4, 4, false);
    assert_null(strstr(svg, "Left out"));
    assert_int_equal(count_of(DOT), 1);
}

/* The dots "much" and "none" have the same position, but only "much" has a broken ring. */
static void a_dot_with_much_time_in_states_without_a_corner_has_a_broken_ring(void **state)
{
    (void)state;
    begin(0);
    add("much", 0.17, 0, 0, 0.83);
    add("little", 0.5, 0.3, 0.16, 0.04);
    add("both", 0.3, 0.2, 0.1, 0.3);
    add("none", 1, 0, 0, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of("class=\"left-out\""), 2);
    assert_int_equal(count_of("class=\"missing\""), 1);
    assert_says("left-out{stroke:#2c6f9e;stroke-width:1.5px;fill:none;stroke-dasharray:");
    assert_says(
        "up to 83.0 % of the time of a row is at no vertex (lock); of 2 dots more than 5 %");
    assert_says("much, CPU 17.0 %, idle 0.0 %, wait 0.0 %, left out 83.0 %");
    assert_true(ring_radius("left-out", "both") > ring_radius("missing", "both"));
    draw(PICTURE_BARRY4, 4, false);
    assert_int_equal(count_of("class=\"left-out\""), 0);
}

static void special_characters_in_names_are_escaped(void **state)
{
    (void)state;
    begin(0);
    add("a<&\"\xff", 0.9, 0.1, 0, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_says("<title>a&lt;&amp;&quot;\xef\xbf\xbd, CPU 90.0 %");
    assert_says("class=\"label\">a&lt;&amp;&quot;\xef\xbf\xbd</text>");
}

static void each_of_six_dots_has_its_name_wherever_it_is(void **state)
{
    static const double places[6][3] = { { 0.9, 0.1, 0 }, { 0.5, 0.5, 0 }, { 0, 0.9, 0.1 },
                                         { 0, 0.5, 0.5 }, { 0, 0.1, 0.9 }, { 0.5, 0, 0.5 } };
    char name[16];

    (void)state;
    begin(0);
    for (size_t i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "group%c", (char)('A' + i));
        add(name, places[i][0], places[i][1], places[i][2], 0);
    }
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of("class=\"label\">group"), 6);
}

static void names_that_differ_only_in_a_final_number_share_a_colour(void **state)
{
    (void)state;
    begin(0);
    add("pair", 0.9, 0.1, 0, 0);
    add("pair12", 0.1, 0.9, 0, 0);
    add("alone", 0, 0.2, 0.8, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#004c89\""), 2);
    assert_int_equal(count_of(DOT " fill=\"#57606a\""), 1);
}

static void add_session(const char *application)
{
    const char *const values[] = { "postgres", application };

    add("postgres@shop", 0.9, 0.1, 0, 0);
    frame.entities[frame.entity_count - 1].labels = labels_intern(values, 2);
}

/* If all names are equal, the first label with several values determines the colours. */
static void the_first_label_with_several_values_determines_the_colours_of_sessions(void **state)
{
    (void)state;
    begin(0);
    add_session("web1");
    add_session("web1");
    add_session("web2");
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#004c89\""), 2);
    assert_int_equal(count_of(DOT " fill=\"#57606a\""), 0);
    assert_says(">application<");
    assert_says(">web2<");
    colour = 0;
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#004c89\""), 3);
    assert_says(">user<");
    colour = PICTURE_COLOUR_NAME;
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#004c89\""), 3);
    assert_int_equal(count_of(">application<"), 0);
}

/* The shares of the entity are equal, so the position of its dot does not depend on the
 * viewpoint. */
static void a_dot_with_equal_shares_is_at_the_centre_of_a_tetrahedron(void **state)
{
    static const char *const corners[] = { "a", "b", "c", "d" };
    double x = 0, y = 0;

    (void)state;
    begin(0);
    for (size_t i = 0; i < 4; i++)
        add(corners[i], i == 0, i == 1, i == 2, i == 3);
    add("m", 0.25, 0.25, 0.25, 0.25);
    keep();
    draw(PICTURE_BARRY4, 4, false);
    for (const char *at = svg; (at = strstr(at, "class=\"dot\"")) != NULL; at++) {
        const char *circle = at;
        double dot_x = 0, dot_y = 0;

        while (strncmp(circle, "<circle", 7) != 0)
            circle--;
        assert_int_equal(sscanf(circle, "<circle cx=\"%lf\" cy=\"%lf\"", &dot_x, &dot_y), 2);
        x += strstr(at, "<title>m, ") == strstr(at, "<title>") ? -4 * dot_x : dot_x;
        y += strstr(at, "<title>m, ") == strstr(at, "<title>") ? -4 * dot_y : dot_y;
    }
    assert_true(fabs(x) < 0.1 && fabs(y) < 0.1);
}

/* The number of dots in the far corner does not cover the name of that corner. */
static void a_number_of_dots_does_not_cover_the_name_of_a_corner_of_the_tetrahedron(void **state)
{
    double x = 0, y = 0, number_x = 0, number_y = 0;
    const char *at;

    (void)state;
    begin(0);
    for (size_t i = 0; i < 9; i++)
        add("crowd", 0, 0, 0, 1);
    keep();
    draw(PICTURE_BARRY4, 4, false);
    at = strstr(svg, ">contention</text>");
    assert_non_null(at);
    while (strncmp(at, "<text", 5) != 0)
        at--;
    assert_int_equal(sscanf(at, "<text x=\"%lf\" y=\"%lf\"", &x, &y), 2);
    at = strstr(svg, ">9 dots</text>");
    assert_non_null(at);
    while (strncmp(at, "<text", 5) != 0)
        at--;
    assert_int_equal(sscanf(at, "<text x=\"%lf\" y=\"%lf\"", &number_x, &number_y), 2);
    assert_true(number_x < x - 14 || fabs(number_y - y) > 11);
}

static double last_tick_x(void)
{
    double x = 0;

    for (const char *at = svg; (at = strstr(at, "<text x=\"")) != NULL; at++) {
        const char *class = strstr(at, "class=\"tick\">");

        if (class != NULL && class < strchr(at, '>') && strchr(class, '.') < strchr(class, '<'))
            x = fmax(x, strtod(at + strlen("<text x=\""), NULL));
    }
    return x;
}

static void the_last_time_label_of_an_axis_is_within_the_picture(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 3; second++) {
        begin(second);
        add("a", 0.5, 0.5, 0, 0);
        keep();
    }
    draw(PICTURE_STACK, 3, false);
    assert_true(last_tick_x() > 700);
    assert_true(last_tick_x() < 760 - 34); /* half of the width of "00:00:03.000" */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_dots_of_figure_3_of_the_camp_paper_are_drawn_at_the_printed_positions),
        CASE(dots_at_the_same_position_are_spread_and_counted),
        CASE(a_dot_with_unaccounted_time_has_a_ring),
        CASE(a_picture_reports_a_state_without_a_corner_of_the_triangle_as_left_out),
        CASE(a_dot_with_much_time_in_states_without_a_corner_has_a_broken_ring),
        CASE(special_characters_in_names_are_escaped),
        CASE(each_of_six_dots_has_its_name_wherever_it_is),
        CASE(names_that_differ_only_in_a_final_number_share_a_colour),
        CASE(the_first_label_with_several_values_determines_the_colours_of_sessions),
        CASE(a_dot_with_equal_shares_is_at_the_centre_of_a_tetrahedron),
        CASE(a_number_of_dots_does_not_cover_the_name_of_a_corner_of_the_tetrahedron),
        CASE(the_last_time_label_of_an_axis_is_within_the_picture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
