/* The colours of vertices: one for each meaning, and no colour twice. */
#include "views/pictures/palette.h"
#include "views/pictures/vertex_colours.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define STATE(class)                                                                               \
    {                                                                                              \
#class, #class, "", COLUMN_STATE, CAMP_MEASURED, CLASS_##class, NULL                       \
    }

static const struct column columns[] = { STATE(CPU),        STATE(READY),      STATE(THROTTLED),
                                         STATE(IO),         STATE(CONTENTION), STATE(NETWORK),
                                         STATE(OTHER_WAIT), STATE(IDLE),       STATE(NONE),
                                         STATE(IDLE) };
static const struct schema schema = { "made-up", columns, 10, 10, NULL, 0 };
static const char *const names[] = { "a", "b", "c", "d" };

/* Assigns each state to the vertex that is its digit in `vertices`, in the order of columns[]; a
 * dot means none. Checks the classes of the vertices. */
static void check(const char *of_states, const enum column_class *expected, size_t count)
{
    enum column_class classes[VERTICES_MAXIMUM];
    struct vertices vertices;

    assert_true(vertices_init(&vertices, &schema, names, count));
    for (size_t i = 0; i < schema.state_count; i++)
        vertices.of_state[i] = of_states[i] == '.' ? 0 : (uint8_t)(of_states[i] - '0');
    vertices_classes(&vertices, classes);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(classes[i], expected[i]);
}

#define CHECK(of_states, ...)                                                                      \
    check(of_states, (const enum column_class[]){ __VA_ARGS__ },                                   \
          sizeof((const enum column_class[]){ __VA_ARGS__ }) / sizeof(enum column_class))

static void a_vertex_of_one_class_has_the_colour_of_that_class(void **state)
{
    (void)state;
    CHECK("1..3...2.2", CLASS_CPU, CLASS_IDLE, CLASS_IO);
    CHECK("....1...2.", CLASS_CONTENTION, CLASS_NONE, CLASS_READY);
    CHECK("1...3..2..", CLASS_CPU, CLASS_IDLE, CLASS_CONTENTION);
    CHECK("4....312..", CLASS_OTHER_WAIT, CLASS_IDLE, CLASS_NETWORK, CLASS_CPU);
}

static void a_vertex_of_several_waits_has_the_colour_of_the_run_queue(void **state)
{
    (void)state;
    CHECK("13333332.2", CLASS_CPU, CLASS_IDLE, CLASS_READY);
    CHECK("1...3.32..", CLASS_CPU, CLASS_IDLE, CLASS_READY);
}

static void a_mixed_vertex_has_the_colour_of_most_of_its_states(void **state)
{
    (void)state;
    CHECK("1..2...3.3", CLASS_CPU, CLASS_IO, CLASS_IDLE);
    CHECK("13.2...3.3", CLASS_CPU, CLASS_IO, CLASS_IDLE);
    CHECK("1..13..2..", CLASS_CPU, CLASS_IDLE, CLASS_CONTENTION);
}

/* The usual four vertices of threads: I/O gives the run queue's colour to contention. */
static void the_vertex_with_the_run_queue_comes_first(void **state)
{
    (void)state;
    CHECK("14334332.2", CLASS_CPU, CLASS_IDLE, CLASS_IO, CLASS_READY);
}

static void no_two_vertices_have_the_same_colour(void **state)
{
    (void)state;
    CHECK("1......2.3", CLASS_CPU, CLASS_IDLE, CLASS_READY);
    CHECK(".1233.2...", CLASS_READY, CLASS_THROTTLED, CLASS_IO);
    CHECK("..........", CLASS_NONE, CLASS_READY, CLASS_IO, CLASS_CONTENTION);
}

static void both_papers_show_the_same_classes(void **state)
{
    const char *light[VERTICES_MAXIMUM], *dark[VERTICES_MAXIMUM];
    struct vertices vertices;

    (void)state;
    assert_true(vertices_usual(&vertices, &(struct schema){ "", columns, 8, 8, NULL, 0 }, 3));
    vertices_colours(&vertices, light);
    vertices_colours_dark(&vertices, dark);
    assert_string_equal(light[0], palette_classes[CLASS_CPU]);
    assert_string_equal(light[2], palette_classes[CLASS_READY]);
    assert_string_equal(dark[1], palette_classes_dark[CLASS_IDLE]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vertex_of_one_class_has_the_colour_of_that_class),
        cmocka_unit_test(a_vertex_of_several_waits_has_the_colour_of_the_run_queue),
        cmocka_unit_test(a_mixed_vertex_has_the_colour_of_most_of_its_states),
        cmocka_unit_test(the_vertex_with_the_run_queue_comes_first),
        cmocka_unit_test(no_two_vertices_have_the_same_colour),
        cmocka_unit_test(both_papers_show_the_same_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
