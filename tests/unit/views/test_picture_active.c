/* Pictures of active time: ribbon and ranking. */
#include "picture_drawing.h"

#include "views/pictures/active_groups.h"

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

/* Adds a session of a user with an application. */
static void add_session(const char *user, const char *application, double cpu, double idle,
                        double lock)
{
    const char *const values[] = { user, application };

    add("postgres@shop", cpu, idle, 0, lock);
    frame.entities[frame.entity_count - 1].labels = labels_intern(values, 2);
}

/* Adds up the heights of a layer over its columns, in entities. Each column has two points above,
 * from left to right, and two below, from right to left. The axis ends at `top`. */
static double layer_sum(size_t number, double top)
{
    const char *at = svg;
    double points[4096][2], sum = 0;
    size_t count = 0;

    for (size_t i = 0; i <= number; i++) {
        at = strstr(at + 1, LAYER);
        assert_non_null(at);
    }
    while (strncmp(at, "<polygon", 8) != 0)
        at--;
    at = strstr(at, "points=\"") + strlen("points=\"");
    while (*at != '"' && count < 4096) {
        char *end;

        points[count][0] = strtod(at, &end);
        points[count++][1] = strtod(end + 1, &end);
        at = end + (*end == ' ');
    }
    for (size_t i = 0; i < count / 2; i += 2)
        sum += fabs(points[count - 1 - i][1] - points[i][1]) * top / 300;
    return sum;
}

static void a_ribbon_by_a_label_has_a_layer_for_each_value(void **state)
{
    (void)state;
    for (unsigned second = 0; second < 4; second++) {
        begin(second);
        add_session("app", "orders", 0.25, 0.75, 0);
        add_session("app", "web", 0.5, 0, 0.5);
        add_session("batch", "web", second % 2, 1 - second % 2, 0);
        add_session("batch", "", 0, 0.875, 0.125);
        keep();
    }
    kind_of_entities = "sessions";
    colour = 1;
    draw(PICTURE_RIBBON, 3, false);
    assert_says(">Active sessions by application</text>");
    assert_says("How many were active at one time, by application, over time.");
    assert_int_equal(count_of(LAYER), 3);
    assert_says(">web 1.50</text>");
    assert_says(">orders 0.25</text>");
    assert_says(">(none) 0.12</text>");
    assert_says("4 entities, 1.88 active at one time.");
    /* The largest is at the bottom, in the first colour of groups. */
    assert_true(strstr(svg, LAYER " fill=\"#004c89\"") < strstr(svg, LAYER " fill=\"#be8703\""));
    colour = 0;
    draw(PICTURE_RIBBON, 3, false);
    assert_says(">app 1.25</text>");
    assert_says(">batch 0.62</text>");
    assert_true(fabs(layer_sum(0, 2.5) - 5) < 1e-2);
    assert_true(fabs(layer_sum(1, 2.5) - 2.5) < 1e-2);
}

static void a_ribbon_by_name_has_six_layers_and_the_others(void **state)
{
    (void)state;
    begin(0);
    for (unsigned i = 0; i < 9; i++) {
        const char name[] = { (char)('a' + i), '1', '\0' };

        add(name, 0.0625 * (i + 1), 1 - 0.0625 * (i + 1), 0, 0);
    }
    add("a2", 0.5, 0.25, 0, 0); /* a third of its active time and more is missing */
    add("sleeper", 0, 1, 0, 0);
    keep();
    colour = PICTURE_COLOUR_NAME;
    draw(PICTURE_RIBBON, 3, false);
    assert_says(">Active threads by name</text>");
    assert_int_equal(count_of(LAYER), 8);
    assert_says(">a 0.56</text>"); /* a1 and a2 */
    assert_says(">i1 0.56</text>");
    assert_says(">3 others 0.56</text>"); /* b, c and d; the sleeper is none of them */
    assert_says(">unaccounted 0.25</text>");
    assert_true(strstr(svg, LAYER " fill=\"#c3c9d0\"") < strstr(svg, LAYER " " HATCHED));
}

static double active_sum(void)
{
    double sum = 0;

    for (size_t row = 0; row < timeline.row_count; row++) {
        struct active active;

        active_of_timeline(&timeline, row, &active);
        for (size_t i = 0; i < CLASS_COUNT; i++)
            sum += active.seconds[i];
    }
    return sum;
}

/* The layers of the two ribbons add up to the same, as far as points show it, which are written to
 * a hundredth of a pixel; the groups do so to the nanosecond. */
static void a_ribbon_by_a_label_has_the_sums_of_the_ribbon_by_class(void **state)
{
    const struct picture picture = { .timeline = &timeline, .kind = "threads", .colour = 1 };
    double by_class = 0, by_label = 0, missing, of_groups = 0;
    struct active_groups groups;

    (void)state;
    for (unsigned second = 0; second < 7; second++) {
        begin(second);
        for (unsigned i = 0; i < 40; i++) {
            const char application[] = { (char)('a' + i % 11), '\0' };
            const unsigned share = (i * 37 + second * 13) % 64;

            add_session("app", application, share / 128.0, 0.25, (63 - share) / 256.0);
        }
        add("pool", 0, 0, 0, 1); /* parked */
        keep();
    }
    draw(PICTURE_RIBBON, 3, false);
    for (size_t i = 0; i + 1 < count_of(LAYER); i++)
        by_class += layer_sum(i, 30);
    missing = layer_sum(count_of(LAYER) - 1, 30);
    colour = 1;
    draw(PICTURE_RIBBON, 3, false);
    assert_int_equal(count_of(LAYER), 8);
    for (size_t i = 0; i + 1 < count_of(LAYER); i++)
        by_label += layer_sum(i, 30);
    assert_true(fabs(by_class - active_sum()) < 0.1);
    assert_true(fabs(by_class - by_label) < 0.1);
    assert_true(fabs(layer_sum(7, 30) - missing) < 0.01);
    assert_int_equal(active_groups_find(&groups, &picture, false), CAMP_OK);
    for (size_t i = 0; i < groups.count; i++)
        of_groups += groups.groups[i].sum.sum_s;
    assert_int_equal(groups.count, 12);
    assert_true(fabs(of_groups - active_sum()) < 1e-9);
    assert_true(fabs(groups.sum.sum_s - active_sum()) < 1e-9);
    active_groups_release(&groups);
}

static void a_long_legend_of_a_ribbon_moves_the_area_down(void **state)
{
    double height;

    (void)state;
    begin(0);
    for (unsigned i = 0; i < 8; i++) {
        char application[100];

        snprintf(application, sizeof application,
                 "%u: select a column from a table with a long name", i);
        add_session("app", application, 0.5, 0.5, 0);
    }
    keep();
    draw(PICTURE_RIBBON, 3, false);
    height = attribute("role=\"img\"", 0, "height");
    colour = 1;
    draw(PICTURE_RIBBON, 3, false);
    assert_says(">0: select a col");
    assert_int_equal(count_of("with a long name"), 0);
    assert_says("... 0.50</text>");
    assert_says(">2 others 1.00</text>");
    /* Three names fit into a row, so there is a third row. */
    assert_true(fabs(attribute("role=\"img\"", 0, "height") - height - 18) < 0.01);
}

static void a_caption_says_which_entities_are_shown(void **state)
{
    (void)state;
    begin(0);
    add_session("app", "web", 0.5, 0.5, 0);
    keep();
    only = "application matches ^web$";
    draw(PICTURE_RIBBON, 3, false);
    assert_says("Only entities whose application matches ^web$ are shown.");
    only = "";
    draw(PICTURE_RIBBON, 3, false);
    assert_int_equal(count_of("Only entities"), 0);
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
        CASE(a_ribbon_by_a_label_has_a_layer_for_each_value),
        CASE(a_ribbon_by_name_has_six_layers_and_the_others),
        CASE(a_ribbon_by_a_label_has_the_sums_of_the_ribbon_by_class),
        CASE(a_long_legend_of_a_ribbon_moves_the_area_down),
        CASE(a_caption_says_which_entities_are_shown),
        CASE(a_ranking_has_a_row_for_each_process),
        CASE(a_ranking_by_name_ignores_the_number_at_the_end),
        CASE(a_ranking_has_twenty_rows_at_most),
        CASE(a_ranking_of_idle_entities_has_no_rows),
    };

    setenv("TZ", "UTC0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
