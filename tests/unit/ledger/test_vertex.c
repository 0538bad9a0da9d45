#include "ledger/vertex.h"

#include "sources/source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NEAR 1e-12

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED },
    { "disk_ns", "disk", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
    { "lock_ns", "lock", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CONTENTION },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const struct schema schema = { "made-up", columns, 5, 4 };
static const char *const names[] = { "run", "wait", "sleep", "lock" };

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < NEAR))
        fail_msg("%.17g is not %.17g", value, expected);
}

static double sum_of(const struct weights *weights)
{
    double sum = weights->left_out + weights->missing - weights->over;

    for (size_t i = 0; i < VERTICES_MAXIMUM; i++)
        sum += weights->shares[i];
    return sum;
}

static void add(struct frame *frame, uint64_t elapsed, uint64_t run, uint64_t disk, uint64_t lock,
                uint64_t sleep)
{
    const uint64_t values[] = { run, disk, lock, sleep, 7 };

    assert_non_null(frame_add(frame));
    frame->elapsed_ns[frame->entity_count - 1] = elapsed;
    memcpy(frame_values(frame, frame->entity_count - 1), values, sizeof values);
}

enum { RUN, DISK, LOCK, SLEEP };

static void assign_all(struct vertices *ret)
{
    assert_true(vertices_init(ret, &schema, names, 3));
    ret->of_state[RUN] = 1;
    ret->of_state[DISK] = ret->of_state[LOCK] = 2;
    ret->of_state[SLEEP] = 3;
}

static struct weights weigh(const struct vertices *vertices, const struct frame *frame, size_t row)
{
    struct weights ret;

    assert_true(vertices_weigh(vertices, frame, row, &ret));
    return ret;
}

static void states_at_the_same_corner_of_the_triangle_are_added_up(void **state)
{
    struct frame frame;
    struct vertices vertices;
    struct weights weights;

    (void)state;
    frame_init(&frame, &schema);
    assign_all(&vertices);
    add(&frame, 1000, 100, 200, 300, 400);
    weights = weigh(&vertices, &frame, 0);
    assert_near(weights.shares[0], 0.1);
    assert_near(weights.shares[1], 0.5);
    assert_near(weights.shares[2], 0.4);
    assert_near(weights.left_out, 0);
    assert_near(weights.missing, 0);
    frame_release(&frame);
}

static void missing_time_is_not_added_to_the_share_of_any_corner_of_the_triangle(void **state)
{
    struct frame frame;
    struct vertices vertices;
    struct weights weights;

    (void)state;
    frame_init(&frame, &schema);
    assign_all(&vertices);
    add(&frame, 1000, 100, 200, 0, 400);
    add(&frame, 1000, 900, 0, 0, 400);
    weights = weigh(&vertices, &frame, 0);
    assert_near(weights.shares[0], 0.1); /* a share of the wall time, not of the accounted time */
    assert_near(weights.missing, 0.3);
    assert_near(sum_of(&weights), 1);
    weights = weigh(&vertices, &frame, 1);
    assert_near(weights.shares[0], 0.9);
    assert_near(weights.over, 0.3);
    assert_near(weights.missing, 0);
    assert_near(sum_of(&weights), 1);
    frame_release(&frame);
}

static void a_state_without_a_corner_of_the_triangle_is_reported_as_left_out(void **state)
{
    struct frame frame;
    struct vertices vertices;
    struct weights weights;

    (void)state;
    frame_init(&frame, &schema);
    assert_true(vertices_init(&vertices, &schema, names, 3));
    vertices.of_state[RUN] = 1;
    vertices.of_state[SLEEP] = 3;
    add(&frame, 1000, 100, 200, 250, 400);
    weights = weigh(&vertices, &frame, 0);
    assert_near(weights.shares[1], 0);
    assert_near(weights.shares[2], 0.4);
    assert_near(weights.left_out, 0.45);
    assert_near(weights.missing, 0.05);
    assert_near(sum_of(&weights), 1);
    frame_release(&frame);
}

static void a_picture_with_2_or_5_corners_or_with_too_many_states_is_refused(void **state)
{
    struct vertices vertices;
    struct schema wide = schema;

    (void)state;
    assert_false(vertices_init(&vertices, &schema, names, 2));
    assert_false(vertices_init(&vertices, &schema, names, 5));
    wide.state_count = VERTICES_STATES_MAXIMUM + 1;
    assert_false(vertices_init(&vertices, &wide, names, 3));
    assert_true(vertices_init(&vertices, &schema, names, 3));
    assert_string_equal(vertices.names[2], "sleep");
    assert_true(vertices_init(&vertices, &schema, names, 4));
}

static void an_entity_without_time_has_no_position_in_the_triangle(void **state)
{
    const struct weights nothing = { .missing = 1 };
    struct frame frame;
    struct vertices vertices;
    struct weights weights;
    struct position position;

    (void)state;
    frame_init(&frame, &schema);
    assign_all(&vertices);
    add(&frame, 0, 0, 0, 0, 0);
    assert_false(vertices_weigh(&vertices, &frame, 0, &weights));
    assert_false(weights_position(&nothing, 3, &position));
    frame_release(&frame);
}

static void the_points_of_figure_3_of_the_camp_paper_have_the_printed_positions(void **state)
{
    const struct weights centre = { .shares = { 1.0 / 3, 1.0 / 3, 1.0 / 3 } };
    const struct weights other = { .shares = { 0.62, 0.28, 0.10 } };
    struct position position;

    (void)state;
    assert_true(weights_position(&centre, 3, &position));
    assert_near(position.x, 1 / sqrt(3));
    assert_near(position.y, 1.0 / 3);
    assert_true(weights_position(&other, 3, &position));
    /* the point at 0.47, 0.62 in Figure 3(b) */
    assert_near(position.x, 0.62 / sqrt(3) + 0.10 * 2 / sqrt(3));
    assert_near(position.y, 0.62);
}

static struct position corner(size_t vertex, size_t count)
{
    struct weights weights = { 0 };
    struct position ret;

    weights.shares[vertex] = 1;
    assert_true(weights_position(&weights, count, &ret));
    return ret;
}

static double distance(struct position left, struct position right)
{
    return sqrt((left.x - right.x) * (left.x - right.x) + (left.y - right.y) * (left.y - right.y) +
                (left.z - right.z) * (left.z - right.z));
}

static void all_corners_of_a_triangle_or_tetrahedron_are_equally_far_apart(void **state)
{
    (void)state;
    for (size_t count = 3; count <= 4; count++) {
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < i; j++)
                assert_near(distance(corner(i, count), corner(j, count)),
                            count == 3 ? 2 / sqrt(3) : sqrt(1.5));
        }
    }
}

/* The foot of the height is the middle of the side or face opposite to the vertex. The height is 1,
 * so the scalar product is the distance of the point from the side. */
static void the_distance_of_a_dot_from_a_side_is_the_share_of_the_opposite_corner(void **state)
{
    const struct weights weights = { .shares = { 0.4, 0.3, 0.2, 0.1 } };

    (void)state;
    for (size_t count = 3; count <= 4; count++) {
        const double whole = count == 3 ? 0.9 : 1.0;
        struct position point;

        assert_true(weights_position(&weights, count, &point));
        for (size_t i = 0; i < count; i++) {
            struct weights side = { 0 };
            struct position foot, vertex = corner(i, count);

            for (size_t j = 0; j < count; j++)
                side.shares[j] = j == i ? 0 : 1;
            assert_true(weights_position(&side, count, &foot));
            assert_near(distance(foot, vertex), 1);
            assert_near((point.x - foot.x) * (vertex.x - foot.x) +
                            (point.y - foot.y) * (vertex.y - foot.y) +
                            (point.z - foot.z) * (vertex.z - foot.z),
                        weights.shares[i] / whole);
        }
    }
}

static void missing_time_does_not_move_the_dot_of_an_entity(void **state)
{
    const struct weights whole = { .shares = { 0.5, 0.3, 0.2 } };
    const struct weights half = { .shares = { 0.25, 0.15, 0.1 }, .missing = 0.5 };
    struct position left, right;

    (void)state;
    assert_true(weights_position(&whole, 3, &left));
    assert_true(weights_position(&half, 3, &right));
    assert_near(distance(left, right), 0);
}

static const char *usual_name(enum camp_state state, size_t count)
{
    struct vertices vertices;

    assert_true(vertices_usual(&vertices, &threads_schema, count));
    return vertices.names[vertices.of_state[state] - 1];
}

static void each_microstate_has_a_default_corner_of_the_triangle(void **state)
{
    (void)state;
    assert_string_equal(usual_name(CAMP_STATE_IRQ, 3), "CPU");
    assert_string_equal(usual_name(CAMP_STATE_RUN_QUEUE, 3), "waiting");
    assert_string_equal(usual_name(CAMP_STATE_LOCK, 3), "waiting");
    assert_string_equal(usual_name(CAMP_STATE_DISK, 3), "waiting");
    assert_string_equal(usual_name(CAMP_STATE_DATA_FAULT, 3), "waiting");
    assert_string_equal(usual_name(CAMP_STATE_POLL, 3), "idle");
    assert_string_equal(usual_name(CAMP_STATE_STOPPED, 3), "idle");
    assert_string_equal(usual_name(CAMP_STATE_RUN_QUEUE, 4), "contention");
    assert_string_equal(usual_name(CAMP_STATE_THROTTLED, 3), "waiting");
    assert_string_equal(usual_name(CAMP_STATE_THROTTLED, 4), "I/O");
    assert_string_equal(usual_name(CAMP_STATE_DISK, 4), "I/O");
}

static void each_cpu_state_has_a_default_corner_of_the_triangle(void **state)
{
    struct vertices vertices;

    (void)state;
    assert_true(vertices_usual(&vertices, &cpus_states_schema, 3));
    assert_true(vertices_usual(&vertices, &cpus_schema, 3));
    assert_int_equal(vertices.of_state[CPUS_GUEST], 1);
    assert_int_equal(vertices.of_state[CPUS_IDLE], 2);
    assert_int_equal(vertices.of_state[CPUS_IOWAIT], 3);
}

static void a_state_of_unknown_class_has_no_default_corner_of_the_triangle(void **state)
{
    struct vertices vertices;

    (void)state;
    assert_false(vertices_usual(&vertices, &schema, 3)); /* run_ns and sleep_ns have no class */
    assert_int_equal(vertices.of_state[0], 0);
    assert_int_equal(vertices.of_state[1], 3);
    assert_int_equal(vertices.count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_at_the_same_corner_of_the_triangle_are_added_up),
        cmocka_unit_test(missing_time_is_not_added_to_the_share_of_any_corner_of_the_triangle),
        cmocka_unit_test(a_state_without_a_corner_of_the_triangle_is_reported_as_left_out),
        cmocka_unit_test(a_picture_with_2_or_5_corners_or_with_too_many_states_is_refused),
        cmocka_unit_test(an_entity_without_time_has_no_position_in_the_triangle),
        cmocka_unit_test(the_points_of_figure_3_of_the_camp_paper_have_the_printed_positions),
        cmocka_unit_test(all_corners_of_a_triangle_or_tetrahedron_are_equally_far_apart),
        cmocka_unit_test(the_distance_of_a_dot_from_a_side_is_the_share_of_the_opposite_corner),
        cmocka_unit_test(missing_time_does_not_move_the_dot_of_an_entity),
        cmocka_unit_test(each_microstate_has_a_default_corner_of_the_triangle),
        cmocka_unit_test(each_cpu_state_has_a_default_corner_of_the_triangle),
        cmocka_unit_test(a_state_of_unknown_class_has_no_default_corner_of_the_triangle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
