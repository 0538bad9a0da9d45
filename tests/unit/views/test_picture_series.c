/* Pictures over time: barymap, stack and lines. */
#include "picture_drawing.h"

/* The expected red is published with the reference implementation of OKLab. The expected mixed
 * colours are those of an independent program that uses the same formula. */
static void colours_are_mixed_in_the_oklab_colour_space(void **state)
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

static void a_cell_of_a_barymap_mixes_the_colours_of_its_shares(void **state)
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
    /* 4 s are 580 px wide. The first entity has one colour for 4 s. The second entity has another
     * colour for 1 s, twice. */
    assert_says("<path stroke=\"#84a8cd\" d=\"M0 0h580\"/>");
    assert_says("<path stroke=\"#8fb9c0\" d=\"M0 1h145M290 1h145\"/>");
    assert_says("<path stroke=\"#2a71b1\" d=\"M435 1h145\"/>");
    assert_int_equal(count_of(RUNS), 3);
    assert_says("2 entities in 2 lines, 4 columns.");
}

/* CPUs have no process, so their lines are sorted by id. */
static void lines_of_a_barymap_that_belong_to_no_process_are_sorted_by_id(void **state)
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

static void neighbouring_lines_of_a_large_barymap_are_merged(void **state)
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
    assert_int_equal(count_of(RUNS), 1); /* all cells have the same mixed colour */
    assert_says(RUNS "84a8cd\" d=\"M0 0h580M0 1h580");
}

/* Returns the smallest y of the polygon or polyline that follows the text `after`. */
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

static void a_stacked_chart_without_missing_time_reaches_100_percent(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 5; second++) {
        begin(second);
        add("a", 0.1 * second, 0.3, 0.7 - 0.1 * second, 0);
        add("b", 0.123, 0.777, 0.1, 0);
        keep();
    }
    draw(PICTURE_STACK, 3, false);
    /* all points of the upper line of the last of the three areas are at 100 % */
    assert_int_equal(count_of("<polygon"), 3);
    assert_true(fabs(top_of("fill=\"#229569\"/>\n<polygon") - 84) < 1e-9);
    assert_says("<line x1=\"64\" y1=\"84\" x2=\"728\" y2=\"84\" class=\"whole\"");
    assert_says("2 entities together; 0.00 % of all their time is in no state, 0.00 % was "
                "accounted twice.");
}

static void a_stacked_chart_has_an_area_for_the_time_in_states_without_a_corner(void **state)
{
    (void)state;
    begin(0);
    add("a", 0.25, 0.25, 0, 0.25);
    keep();
    draw(PICTURE_STACK, 3, false);
    assert_int_equal(count_of("<polygon"), 4);
    assert_true(
        fabs(top_of("fill=\"#d9dee5\" stroke=\"#858e99\" stroke-width=\"0.8\"/>\n<polygon") -
             (84 + 320 * 0.25)) < 0.01);
    assert_says(">left out</text>");
    assert_says("25.00 % of all their time is in no state");
}

/* Missing time and time accounted twice cancel neither between two entities nor between two merged
 * intervals of one entity. */
static void missing_time_and_time_accounted_twice_do_not_cancel_out(void **state)
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

static void the_axis_extends_above_100_percent_for_time_accounted_twice(void **state)
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

static void a_gap_in_time_interrupts_the_areas_and_lines_of_a_chart(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(colours_are_mixed_in_the_oklab_colour_space),
        CASE(a_cell_of_a_barymap_mixes_the_colours_of_its_shares),
        CASE(lines_of_a_barymap_that_belong_to_no_process_are_sorted_by_id),
        CASE(neighbouring_lines_of_a_large_barymap_are_merged),
        CASE(a_stacked_chart_without_missing_time_reaches_100_percent),
        CASE(a_stacked_chart_has_an_area_for_the_time_in_states_without_a_corner),
        CASE(missing_time_and_time_accounted_twice_do_not_cancel_out),
        CASE(the_axis_extends_above_100_percent_for_time_accounted_twice),
        CASE(a_gap_in_time_interrupts_the_areas_and_lines_of_a_chart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
