/* Pictures: does each dot, each colour and each area stand where the arithmetic says? */
#include "views/pictures/oklab.h"
#include "views/pictures/picture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000u
#define DOT "class=\"dot\""
#define RUNS "<path stroke=\"#"

static const struct column columns[] = {
    { "cpu_ns", "cpu", "", COLUMN_STATE, CAMP_MEASURED },
    { "idle_ns", "idle", "", COLUMN_STATE, CAMP_MEASURED },
    { "wait_ns", "wait", "", COLUMN_STATE, CAMP_MEASURED },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED },
};
static const char *const label_names[] = { "user", "application" };
static const struct schema schema = { "made-up", columns, 4, 4, label_names, 2 };
static const char *const names[] = { "CPU", "idle", "wait", "contention" };

static struct frame frame;
static struct timeline timeline;
static struct vertices vertices;
static char *svg;
static int colour;

static int set_up(void **state)
{
    (void)state;
    frame_init(&frame, &schema);
    timeline_init(&timeline, &schema, 1 << 24);
    svg = NULL;
    colour = PICTURE_COLOUR_USUAL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    frame_release(&frame);
    timeline_release(&timeline);
    free(svg);
    return 0;
}

static void begin(unsigned second)
{
    frame_clear(&frame);
    frame.start_ns = (uint64_t)second * SECOND;
    frame.end_ns = frame.start_ns + SECOND;
    frame.wall_clock_ns = (int64_t)(1000 + second) * SECOND;
}

static void add(const char *name, double cpu, double idle, double wait, double lock)
{
    const double shares[] = { cpu, idle, wait, lock };
    struct entity *entity = frame_add(&frame);

    assert_non_null(entity);
    entity->id = (int64_t)frame.entity_count;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    frame.elapsed_ns[frame.entity_count - 1] = SECOND;
    for (size_t i = 0; i < 4; i++)
        frame_values(&frame, frame.entity_count - 1)[i] = (uint64_t)llround(shares[i] * SECOND);
}

static void keep(void)
{
    assert_int_equal(timeline_add(&timeline, &frame), CAMP_OK);
}

/* Vertices are the first `count` states. */
static void draw(enum picture_kind kind, size_t count, bool over_entities)
{
    struct picture picture = { .timeline = &timeline,
                               .vertices = &vertices,
                               .source = "made-up",
                               .origin = "test",
                               .note = "",
                               .over_entities = over_entities,
                               .colour = colour };
    size_t length;
    FILE *stream;

    assert_true(vertices_init(&vertices, &schema, names, count));
    for (size_t i = 0; i < count; i++)
        assert_true(vertices_assign(&vertices, columns[i].name, i));
    free(svg);
    stream = open_memstream(&svg, &length);
    assert_non_null(stream);
    assert_int_equal(picture_write(stream, kind, &picture), CAMP_OK);
    assert_int_equal(fclose(stream), 0);
}

static size_t count_of(const char *word)
{
    size_t count = 0;

    for (const char *at = svg; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void assert_says(const char *text)
{
    if (strstr(svg, text) == NULL)
        fail_msg("no '%s' in %s", text, svg);
}

/* ------------------------------------------------------------------------------------ Barry3 -- */

/* Where a dot is in the triangle of height 1, by the corners that are drawn. */
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

/* Figure 3 of the paper: (0.577, 0.333) and (0.47, 0.62). Of the second its picture and its text
 * name the lower vertices in a different order: the picture's is the one that gives this place. */
static void dots_stand_where_the_paper_says(void **state)
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
    /* the paper's own figures are rounded to two digits */
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

static void dots_of_one_place_are_set_apart_and_counted(void **state)
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
    place_of("many", &x, &y); /* the first is drawn last, on its very place; this is another */
    assert_true(fabs(y) > 0.001 || fabs(x - 1 / sqrt(3)) > 0.001);
    assert_true(fabs(y) < 0.03 && fabs(x - 1 / sqrt(3)) < 0.03);
}

/* The radius of the ring of a class that follows a dot. */
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

static void time_that_does_not_add_up_has_a_ring(void **state)
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

static void four_components_in_a_triangle_are_said_to_be_left_out(void **state)
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

/* A session with much run queue stands where one without it does: its ring tells them apart. */
static void time_at_no_vertex_has_a_broken_ring(void **state)
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

static void names_of_any_bytes_are_escaped(void **state)
{
    (void)state;
    begin(0);
    add("a<&\"\xff", 0.9, 0.1, 0, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_says("<title>a&lt;&amp;&quot;\xef\xbf\xbd, CPU 90.0 %");
    assert_says("class=\"label\">a&lt;&amp;&quot;\xef\xbf\xbd</text>");
}

static void those_of_one_name_but_for_its_number_share_a_colour(void **state)
{
    (void)state;
    begin(0);
    add("pair", 0.9, 0.1, 0, 0);
    add("pair12", 0.1, 0.9, 0, 0);
    add("alone", 0, 0.2, 0.8, 0);
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#bb301e\""), 2);
    assert_int_equal(count_of(DOT " fill=\"#57606a\""), 1);
}

static void add_session(const char *application)
{
    const char *const values[] = { "postgres", application };

    add("postgres@shop", 0.9, 0.1, 0, 0);
    frame.entities[frame.entity_count - 1].labels = labels_intern(values, 2);
}

/* Names that are all alike tell nothing: the first label that differs does. */
static void sessions_have_the_colours_of_a_label(void **state)
{
    (void)state;
    begin(0);
    add_session("web1");
    add_session("web1");
    add_session("web2");
    keep();
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#bb301e\""), 2);
    assert_int_equal(count_of(DOT " fill=\"#57606a\""), 0);
    assert_says(">application<");
    assert_says(">web2<");
    colour = 0;
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#bb301e\""), 3);
    assert_says(">user<");
    colour = PICTURE_COLOUR_NAME;
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of(DOT " fill=\"#bb301e\""), 3);
    assert_int_equal(count_of(">application<"), 0);
}

/* ------------------------------------------------------------------------------------ Barry4 -- */

/* The centre of four shares alike is that of the corners, whatever side it is seen from. */
static void the_middle_of_a_tetrahedron_is_that_of_its_corners(void **state)
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

/* A crowd in the corner behind: its number stands beside the corner's name, not on it. */
static void names_of_corners_are_whole_and_not_covered(void **state)
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

static void the_last_time_is_within_the_picture(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 3; second++) {
        begin(second);
        add("a", 0.5, 0.5, 0, 0);
        keep();
    }
    draw(PICTURE_STACK, 3, false);
    assert_true(last_tick_x() > 700);
    assert_true(last_tick_x() < 760 - 34); /* half of "00:00:03.000" */
}

/* ----------------------------------------------------------------------------------- Barymap -- */

/* By the reference implementation's published value of red, and colours mixed by another program
 * (tools of another language) from the same formula. */
static void colours_are_mixed_in_oklab(void **state)
{
    const struct oklab red = oklab_of("#ff0000");
    const struct oklab of_3[] = { oklab_of("#5a91ff"), oklab_of("#e1711b"), oklab_of("#696569") };
    const struct oklab white = oklab_of("#ffffff");

    (void)state;
    assert_true(fabs(red.lightness - 0.62796) < 1e-4 && fabs(red.a - 0.22486) < 1e-4 &&
                fabs(red.b - 0.12585) < 1e-4);
    assert_int_equal(oklab_rgb(red), 0xff0000);
    assert_int_equal(oklab_rgb(of_3[0]), 0x5a91ff);
    assert_int_equal(oklab_rgb(oklab_mix(of_3, (double[]){ 0.5, 0.5, 0 }, 3, white)), 0xa78ba2);
    assert_int_equal(oklab_rgb(oklab_mix(of_3, (double[]){ 0.25, 0.25, 0.25 }, 3, white)),
                     0xac9daa);
    assert_int_equal(oklab_rgb(oklab_mix(of_3, (double[]){ 2, 2, 0 }, 3, white)), 0xa78ba2);
}

static void a_cell_has_the_colour_of_its_composition(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 4; second++) {
        begin(second);
        add("same", 0.5, 0.5, 0, 0);
        if (second != 1)
            add("comes", second == 3 ? 1 : 0.25, second == 3 ? 0 : 0.25, second == 3 ? 0 : 0.25, 0);
        keep();
    }
    draw(PICTURE_BARYMAP, 3, false);
    /* 580 px are 4 s; one run through all of them, and two runs of which one is interrupted */
    assert_says("<path stroke=\"#a78ba2\" d=\"M0 0h580\"/>");
    assert_says("<path stroke=\"#ac9daa\" d=\"M0 1h145M290 1h145\"/>");
    assert_says("<path stroke=\"#5a91ff\" d=\"M435 1h145\"/>");
    assert_int_equal(count_of(RUNS), 3);
    assert_says("2 entities in 2 lines, 4 columns.");
}

/* A CPU has no process: cpu0 is not the first thread of one. */
static void lines_without_a_process_are_in_the_order_of_their_ids(void **state)
{
    (void)state;
    begin(0);
    add("first", 1, 0, 0, 0);
    add("second", 1, 0, 0, 0);
    frame.entities[0].id = -1;
    frame.entities[1].id = 0;
    keep();
    draw(PICTURE_BARYMAP, 3, false);
    assert_true(strstr(svg, ">first</text>") < strstr(svg, ">second</text>"));
}

static void a_large_map_is_added_up(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 700; second++) {
        begin(second);
        for (size_t i = 0; i < 500; i++)
            add("e", i % 2 == 0, i % 2 == 1, 0, 0);
        keep();
    }
    draw(PICTURE_BARYMAP, 3, false);
    assert_says("500 entities in 250 lines, 350 columns; a line is the mean of 2 neighbours.");
    assert_int_equal(count_of(RUNS), 1); /* each cell is half of the one, half of the other */
    assert_says(RUNS "a78ba2\" d=\"M0 0h580M0 1h580");
}

/* ------------------------------------------------------------------------------------- Series --
 */

/* The least y of a polygon or polyline that stands behind `after`. */
static double top_of(const char *after)
{
    const char *at = strstr(svg, after);
    double least = INFINITY;

    assert_non_null(at);
    at = strstr(at, "points=\"") + strlen("points=\"");
    while (*at != '"') {
        char *end;

        strtod(at, &end);
        least = fmin(least, strtod(end + 1, &end));
        at = end + (*end == ' ');
    }
    return least;
}

static void a_stack_of_complete_rows_reaches_the_line(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 5; second++) {
        begin(second);
        add("a", 0.1 * second, 0.3, 0.7 - 0.1 * second, 0);
        add("b", 0.123, 0.777, 0.1, 0);
        keep();
    }
    draw(PICTURE_STACK, 3, false);
    /* the last of the three areas, and every point of its upper side */
    assert_int_equal(count_of("<polygon"), 3);
    assert_true(fabs(top_of("fill=\"#696569\"/>\n<polygon") - 84) < 1e-9);
    assert_says("<line x1=\"64\" y1=\"84\" x2=\"728\" y2=\"84\" class=\"whole\"");
    assert_says("2 entities together; 0.00 % of all their time is in no state, 0.00 % was "
                "accounted twice.");
}

static void what_is_missing_stays_white_and_what_is_left_out_is_an_area(void **state)
{
    (void)state;
    begin(0);
    add("a", 0.25, 0.25, 0, 0.25);
    keep();
    draw(PICTURE_STACK, 3, false);
    assert_int_equal(count_of("<polygon"), 4);
    assert_true(fabs(top_of("fill=\"#e1711b\"/>\n<polygon") - (84 + 320 * 0.25)) < 0.01);
    assert_says(">left out</text>");
    assert_says("25.00 % of all their time is in no state");
}

/* Of two entities, and of two intervals of one that were added up. */
static void time_missing_here_and_booked_twice_there_does_not_cancel(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 2; second++) {
        begin(second);
        add("a", second == 0 ? 0.5 : 1, 0.3, 0, 0);
        add("b", second == 0 ? 0.8 : 0.2, 0.4, 0, 0);
        keep();
    }
    draw(PICTURE_STACK, 3, false);
    assert_says("15.00 % of all their time is in no state, 12.50 % was accounted twice.");
    timeline_merge(&timeline, 0);
    draw(PICTURE_STACK, 3, false);
    assert_says("15.00 % of all their time is in no state, 12.50 % was accounted twice.");
    assert_says(
        "of 2 rows up to 20.0 % of the time is missing; of 2 rows up to 15.0 % was accounted");
    draw(PICTURE_BARRY3, 3, false);
    assert_int_equal(count_of("class=\"missing\""), 2);
    assert_int_equal(count_of("class=\"over\""), 2);
    assert_says(", missing 10.0 %, accounted twice 15.0 %");
}

static void above_the_line_the_axis_goes_on(void **state)
{
    (void)state;
    begin(0);
    add("twice", 0.9, 0.6, 0, 0);
    keep();
    draw(PICTURE_STACK, 3, true);
    assert_says(">150</text>");
    assert_true(top_of("<polygon") > 84);
    assert_says("of 1 entity up to 50.0 % was accounted twice");
    assert_says(">twice</text>");
}

static void a_gap_in_time_breaks_the_areas_and_the_lines(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 10; second += second == 2 ? 5 : 1) {
        begin(second);
        add("a", 0.5, 0.5, 0, 0);
        keep();
    }
    draw(PICTURE_STACK, 3, false);
    assert_int_equal(count_of("<polygon"), 3 * 2);
    draw(PICTURE_LINES, 3, false);
    assert_int_equal(count_of("<polyline"), 3 * 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(dots_stand_where_the_paper_says),
        CASE(dots_of_one_place_are_set_apart_and_counted),
        CASE(time_that_does_not_add_up_has_a_ring),
        CASE(four_components_in_a_triangle_are_said_to_be_left_out),
        CASE(time_at_no_vertex_has_a_broken_ring),
        CASE(names_of_any_bytes_are_escaped),
        CASE(those_of_one_name_but_for_its_number_share_a_colour),
        CASE(sessions_have_the_colours_of_a_label),
        CASE(the_middle_of_a_tetrahedron_is_that_of_its_corners),
        CASE(names_of_corners_are_whole_and_not_covered),
        CASE(the_last_time_is_within_the_picture),
        CASE(colours_are_mixed_in_oklab),
        CASE(a_cell_has_the_colour_of_its_composition),
        CASE(lines_without_a_process_are_in_the_order_of_their_ids),
        CASE(a_large_map_is_added_up),
        CASE(a_stack_of_complete_rows_reaches_the_line),
        CASE(what_is_missing_stays_white_and_what_is_left_out_is_an_area),
        CASE(time_missing_here_and_booked_twice_there_does_not_cancel),
        CASE(above_the_line_the_axis_goes_on),
        CASE(a_gap_in_time_breaks_the_areas_and_the_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
