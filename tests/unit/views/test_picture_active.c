/* Pictures of active time: ribbon and ranking. */
#include "picture_drawing.h"

#define LAYER "class=\"layer\""
#define PART "class=\"part\""
#define CPU_FILL "fill=\"#2a71b1\""
#define LOCK_FILL "fill=\"#c2881d\""
#define HATCHED "fill=\"url(#hatched)\""

/* Gives the last entity a process. */
static void belongs_to(int32_t pid, int64_t id)
{
    frame.entities[frame.entity_count - 1].pid = pid;
    frame.entities[frame.entity_count - 1].id = id;
}

/* Returns the attribute of the element that starts before the `number`th occurrence of `word`. */
static double attribute(const char *word, size_t number, const char *name)
{
    const char *at = svg;
    char text[32];

    for (size_t i = 0; i <= number; i++) {
        at = strstr(at + 1, word);
        assert_non_null(at);
    }
    while (*at != '<')
        at--;
    snprintf(text, sizeof text, " %s=\"", name);
    at = strstr(at, text);
    assert_non_null(at);
    return strtod(at + strlen(text), NULL);
}

/* The area is 300 px high and starts at y = 90. */
static void a_ribbon_shows_how_many_were_active_at_one_time(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 4; second++) {
        begin(second);
        add("a", 1, 0, 0, 0);
        add("b", 0.5, 0, 0.5, 0);
        add("c", 0, 0.5, 0, 0.5);
        keep();
    }
    draw(PICTURE_RIBBON, 3, false);
    assert_says(">Active threads</text>");
    assert_says(">CPU 1.50</text>");
    assert_says(">disk 0.50</text>");
    assert_says(">lock 0.50</text>");
    assert_says("3 entities, 2.50 active at one time.");
    assert_int_equal(count_of(LAYER), 3);
    assert_says("UTC)</text>");
    /* The axis ends at 2.5, so that 1.5 on the CPU are 180 px. */
    assert_says("points=\"64,210 ");
}

static void a_ribbon_has_a_line_at_the_number_of_cpus(void **state)
{
    (void)state;
    begin(0);
    add("a", 1, 0, 0, 0);
    add("b", 1, 0, 0, 0);
    add("c", 1, 0, 0, 0);
    keep();
    draw(PICTURE_RIBBON, 3, false);
    assert_int_equal(count_of("class=\"cpus\""), 0);
    cpus = 2;
    draw(PICTURE_RIBBON, 3, false);
    assert_says(">2 CPUs</text>");
    assert_true(fabs(attribute("class=\"cpus\"", 0, "y1") - 190) < 0.01);
    cpus = 64;
    draw(PICTURE_RIBBON, 3, false);
    assert_int_equal(count_of("class=\"cpus\""), 0);
    assert_says("; 64 CPUs, above the picture.");
}

static void unaccounted_time_is_hatched_on_top_of_a_ribbon(void **state)
{
    (void)state;
    begin(0);
    add("a", 0.5, 0.25, 0, 0);
    keep();
    draw(PICTURE_RIBBON, 3, false);
    assert_int_equal(count_of(LAYER), 2);
    assert_true(strstr(svg, LAYER " " CPU_FILL) < strstr(svg, LAYER " " HATCHED));
    assert_says(">unaccounted 0.25</text>");
    assert_says("of 1 row up to 25.0 % of the time is missing (hatched).");
}

static void parked_threads_are_counted_but_not_active(void **state)
{
    (void)state;
    begin(0);
    for (unsigned i = 0; i < 500; i++)
        add("pool", 0, 0, 0, 1);
    add("user", 0.25, 0, 0, 0.75);
    keep();
    draw(PICTURE_RIBBON, 3, false);
    assert_says("501 entities, 1.00 active at one time; up to 500 parked in a lock, not active.");
    assert_says(">lock 0.75</text>");
    draw(PICTURE_RANKING, 3, false);
    assert_says("up to 500 parked in a lock, not active.");
    assert_says(">1 idle</text>");
}

static void a_gap_in_time_interrupts_a_ribbon(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 10; second += second == 2 ? 5 : 1) {
        begin(second);
        add("a", 0.5, 0.5, 0, 0);
        keep();
    }
    draw(PICTURE_RIBBON, 3, false);
    assert_int_equal(count_of("<polygon"), 2);
    draw(PICTURE_RANKING, 3, false);
    assert_int_equal(count_of("class=\"course\""), 2);
}

static void a_long_ribbon_has_few_columns_and_the_same_average(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 1500; second++) {
        begin(second);
        add("a", second % 2, 1 - second % 2, 0, 0);
        keep();
    }
    draw(PICTURE_RIBBON, 3, false);
    assert_says("1500 intervals): 1 entity, 0.50 active at one time.");
    assert_true(strlen(svg) < 60000);
}

static void a_ranking_has_a_row_for_each_process(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 2; second++) {
        begin(second);
        add("worker", 0.5, 0.5, 0, 0);
        belongs_to(20, 21);
        add("server", 0.25, 0, 0, 0.75);
        belongs_to(20, 20);
        add("shell", 0.5, 0.5, 0, 0);
        belongs_to(7, 7);
        add("sleeper", 0, 1, 0, 0);
        belongs_to(8, 8);
        keep();
    }
    draw(PICTURE_RANKING, 3, false);
    assert_says(">Active threads by process</text>");
    assert_says(">server 20 (2)</text>");
    assert_says(">1.50</text>");
    assert_says(">shell 7</text>");
    assert_says(">1 idle</text>");
    assert_int_equal(count_of("sleeper"), 0);
    assert_says("4 entities in 3 groups, 2.00 active at one time.");
    assert_true(strstr(svg, ">server 20 (2)<") < strstr(svg, ">shell 7<"));
    /* All bars have one scale: 1.5 is 270 px wide. */
    assert_int_equal(count_of(PART), 3);
    assert_true(fabs(attribute(PART " " CPU_FILL, 0, "width") - 135) < 0.01);
    assert_true(fabs(attribute(PART " " LOCK_FILL, 0, "width") - 135) < 0.01);
    assert_true(fabs(attribute(PART " " CPU_FILL, 1, "width") - 90) < 0.01);
}

static void a_ranking_by_name_ignores_the_number_at_the_end(void **state)
{
    (void)state;
    begin(0);
    add("web1", 0.5, 0.5, 0, 0);
    add("web2", 0.5, 0.5, 0, 0);
    add("job7", 0.25, 0.5, 0, 0);
    keep();
    kind_of_entities = "sessions";
    draw(PICTURE_RANKING, 3, false);
    assert_says(">Active sessions by name</text>");
    assert_says(">web (2)</text>");
    assert_says(">job7</text>");
    /* Missing time is a part of the bar, but not of the number. */
    assert_says(">0.25</text>");
    assert_int_equal(count_of(PART " " HATCHED), 1);
}

static void a_ranking_has_twenty_rows_at_most(void **state)
{
    (void)state;
    begin(0);
    for (unsigned i = 0; i < 23; i++) {
        char name[] = { (char)('a' + i), '\0' };

        add(name, 0.02 * (i + 1), 0, 0.98 - 0.02 * i, 0);
        frame_values(&frame, i)[1] = frame_values(&frame, i)[2];
        frame_values(&frame, i)[2] = 0;
    }
    keep();
    draw(PICTURE_RANKING, 3, false);
    assert_int_equal(count_of(PART), 20);
    assert_says(">3 more</text>");
    assert_says(">0.12</text>"); /* 0.02 + 0.04 + 0.06 */
    assert_true(strstr(svg, ">w</text>") < strstr(svg, ">d</text>"));
    assert_null(strstr(svg, ">c</text>"));
}

static void a_ranking_of_idle_entities_has_no_rows(void **state)
{
    (void)state;
    begin(0);
    add("a", 0, 1, 0, 0);
    keep();
    draw(PICTURE_RANKING, 3, false);
    assert_says(">1 idle</text>");
    assert_int_equal(count_of(PART), 0);
    draw(PICTURE_RIBBON, 3, false);
    assert_says("1 entity, 0.00 active at one time.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_ribbon_shows_how_many_were_active_at_one_time),
        CASE(a_ribbon_has_a_line_at_the_number_of_cpus),
        CASE(unaccounted_time_is_hatched_on_top_of_a_ribbon),
        CASE(parked_threads_are_counted_but_not_active),
        CASE(a_gap_in_time_interrupts_a_ribbon),
        CASE(a_long_ribbon_has_few_columns_and_the_same_average),
        CASE(a_ranking_has_a_row_for_each_process),
        CASE(a_ranking_by_name_ignores_the_number_at_the_end),
        CASE(a_ranking_has_twenty_rows_at_most),
        CASE(a_ranking_of_idle_entities_has_no_rows),
    };

    setenv("TZ", "UTC0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
