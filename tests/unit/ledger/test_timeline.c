#include "ledger/timeline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000u
#define ROW_BYTES (4 + 4 * (3 + 3))

static const struct column columns[] = {
    { "run_ns", "run", "", COLUMN_STATE, CAMP_MEASURED },
    { "wait_ns", "wait", "", COLUMN_STATE, CAMP_MEASURED },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED },
    { "calls", "calls", "", COLUMN_COUNTER, CAMP_MEASURED },
};
static const struct schema schema = { "made-up", columns, 4, 3 };
static const char *const names[] = { "run", "wait", "sleep" };

static struct frame frame;
static struct timeline timeline;

static int set_up(void **state)
{
    (void)state;
    frame_init(&frame, &schema);
    timeline_init(&timeline, &schema, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    frame_release(&frame);
    timeline_release(&timeline);
    return 0;
}

/* Starts an empty frame, whose interval begins at this second. */
static void begin(unsigned second)
{
    frame_clear(&frame);
    frame.start_ns = (uint64_t)second * SECOND;
    frame.end_ns = frame.start_ns + SECOND;
    frame.wall_clock_ns = (int64_t)(1000 + second) * SECOND;
    frame.losses = (struct losses){ .lost = 1 };
}

static void add(int64_t id, uint64_t elapsed, uint64_t run, uint64_t wait, uint64_t sleep)
{
    const uint64_t values[] = { run, wait, sleep, 7 };
    struct entity *entity = frame_add(&frame);

    assert_non_null(entity);
    entity->id = id;
    snprintf(entity->name, sizeof entity->name, "n%d", (int)id);
    frame.elapsed_ns[frame.entity_count - 1] = elapsed;
    memcpy(frame_values(&frame, frame.entity_count - 1), values, sizeof values);
}

static void keep(void)
{
    assert_int_equal(timeline_add(&timeline, &frame), CAMP_OK);
}

/* Returns the row of the entity with this id in frame `number` of the timeline. */
static size_t row_of(size_t number, int64_t id)
{
    const struct timeline_frame *kept = &timeline.frames[number];

    for (size_t row = kept->first; row < kept->first + kept->count; row++) {
        if (timeline.registry.entities[timeline.entities[row]].entity.id == id)
            return row;
    }
    fail_msg("no entity %d in frame %zu", (int)id, number);
    return 0;
}

static void assert_row(size_t number, int64_t id, double elapsed_s, double run, double wait,
                       double sleep, double unaccounted)
{
    const size_t row = row_of(number, id);
    const double expected[] = { elapsed_s, unaccounted, run, wait, sleep };
    const double found[] = { timeline.elapsed_s[row], timeline.missing[row] - timeline.over[row],
                             timeline.shares[3 * row], timeline.shares[3 * row + 1],
                             timeline.shares[3 * row + 2] };

    for (size_t i = 0; i < 5; i++) {
        if (!(fabs(found[i] - expected[i]) < 1e-6))
            fail_msg("frame %zu, entity %d: number %zu is %g, not %g", number, (int)id, i, found[i],
                     expected[i]);
    }
}

static void a_timeline_stores_the_states_of_a_frame_as_shares_of_time(void **state)
{
    (void)state;
    begin(0);
    add(1, SECOND, SECOND / 4, SECOND / 4, SECOND / 2);
    add(2, SECOND / 2, 0, SECOND / 8, SECOND / 8);
    add(3, 0, 0, 0, 0);
    add(4, SECOND, SECOND, SECOND / 2, 0);
    keep();
    assert_int_equal(timeline.frame_count, 1);
    assert_int_equal(timeline.frames[0].count, 4);
    assert_true(timeline.frames[0].begin_ns == (int64_t)999 * SECOND);
    assert_true(timeline.frames[0].end_ns == (int64_t)1000 * SECOND);
    assert_row(0, 1, 1, 0.25, 0.25, 0.5, 0);
    assert_row(0, 2, 0.5, 0, 0.25, 0.25, 0.5);
    assert_row(0, 3, 0, 0, 0, 0, 0);
    assert_row(0, 4, 1, 1, 0.5, 0, -0.5);
}

static void two_rows_of_one_entity_in_a_frame_are_merged(void **state)
{
    (void)state;
    begin(0);
    add(1, SECOND, SECOND, 0, 0);
    add(1, 3ul * SECOND, 0, 3ul * SECOND, 0);
    keep();
    assert_int_equal(timeline.frames[0].count, 1);
    assert_row(0, 1, 4, 0.25, 0.75, 0, 0);
}

/* Adds three frames. The second frame lacks an entity of the first frame, and the third frame has a
 * new entity. */
static void keep_three(void)
{
    begin(0);
    add(1, SECOND, SECOND, 0, 0);
    add(2, SECOND, 0, 0, SECOND);
    keep();
    begin(1);
    add(2, SECOND, 0, SECOND / 2, 0);
    keep();
    begin(2);
    add(3, SECOND, SECOND, 0, 0);
    add(1, 3ul * SECOND, 0, 3ul * SECOND, 0);
    keep();
}

static void merging_frames_gives_one_longer_frame(void **state)
{
    (void)state;
    keep_three();
    timeline_merge(&timeline, 0);
    assert_int_equal(timeline.frame_count, 1);
    assert_int_equal(timeline.frames[0].merged, 3);
    assert_int_equal(timeline.frames[0].count, 3);
    assert_int_equal(timeline.frames[0].losses.lost, 3);
    assert_true(timeline.frames[0].begin_ns == (int64_t)999 * SECOND);
    assert_true(timeline.frames[0].end_ns == (int64_t)1002 * SECOND);
    assert_row(0, 1, 4, 0.25, 0.75, 0, 0);
    assert_row(0, 2, 2, 0, 0.25, 0.5, 0.25);
    assert_row(0, 3, 1, 1, 0, 0, 0);
}

static void merging_frames_in_pairs_leaves_a_third_frame_unchanged(void **state)
{
    (void)state;
    keep_three();
    timeline_merge(&timeline, 2);
    assert_int_equal(timeline.frame_count, 2);
    assert_row(0, 1, 1, 1, 0, 0, 0);
    assert_row(0, 2, 2, 0, 0.25, 0.5, 0.25);
    assert_int_equal(timeline.frames[1].merged, 1);
    assert_row(1, 1, 3, 0, 1, 0, 0);
    assert_row(1, 3, 1, 1, 0, 0, 0);
}

/* The memory has space for 8 rows. With two entities in each frame, 20 frames are merged to 3
 * frames. */
static void a_timeline_of_limited_memory_loses_no_time(void **state)
{
    double elapsed = 0, run = 0;

    (void)state;
    timeline.bytes_maximum = 8 * ROW_BYTES;
    for (unsigned i = 0; i < 20; i++) {
        begin(i);
        add(1, SECOND, i % 5 == 0 ? SECOND : 0, 0, 0);
        add(2, SECOND, 0, SECOND, 0);
        keep();
        assert_true(timeline.row_count <= 8);
    }
    assert_int_equal(timeline.merging, 8);
    assert_int_equal(timeline.frame_count, 3);
    assert_int_equal(timeline.frames[0].merged, 8);
    assert_int_equal(timeline.frames[2].merged, 4);
    assert_true(timeline.frames[2].end_ns == (int64_t)1019 * SECOND);
    for (size_t i = 0; i < timeline.frame_count; i++) {
        const size_t row = row_of(i, 1);

        elapsed += timeline.elapsed_s[row];
        run += timeline.elapsed_s[row] * timeline.shares[3 * row];
    }
    assert_true(fabs(elapsed - 20) < 1e-5);
    assert_true(fabs(run - 4) < 1e-5);
}

/* One entity is in all frames, a second returns after 400 frames, and 300 entities of each frame
 * exit. The ids of exited entities are reused. */
static void a_timeline_adds_up_short_lived_entities_by_name(void **state)
{
    const size_t most = 64ul << 10;
    double stays = 0, comes = 0, ended = 0, back = 0;

    (void)state;
    timeline.bytes_maximum = most;
    for (unsigned i = 0; i < 500; i++) {
        begin(i);
        add(1, SECOND, SECOND / 2, 0, SECOND / 2);
        if (i == 0 || i > 400)
            add(2, SECOND, SECOND, 0, 0);
        for (int64_t k = 0; k < 300; k++) {
            add(1000 + (i * 300 + k) % 32768, SECOND / 100, SECOND / 100, 0, 0);
            frame.entities[frame.entity_count - 1].flags = ENTITY_NEW | ENTITY_ENDED;
            strcpy(frame.entities[frame.entity_count - 1].name, "sh");
        }
        keep();
        assert_true(timeline.row_count <= most / ROW_BYTES);
        assert_true(timeline.registry.count <= 1024 + 300);
    }
    assert_int_equal(timeline.frames[timeline.frame_count - 1].losses.lost,
                     timeline.frames[timeline.frame_count - 1].merged);
    for (size_t row = 0; row < timeline.row_count; row++) {
        const struct entity *entity = &timeline.registry.entities[timeline.entities[row]].entity;
        double *sum = entity->id == 1          ? &stays
                      : entity->name[0] == 'n' ? &back /* "n2" or "n2 (ended)" */
                      : entity->id == 0        ? &ended
                                               : &comes;

        *sum += timeline.elapsed_s[row];
        assert_true(entity->id != 0 || strstr(entity->name, " (ended)") != NULL);
        assert_true(fabs(timeline.shares[3 * row] - (entity->id == 1 ? 0.5 : 1)) < 1e-5);
    }
    assert_true(fabs(stays - 500) < 1e-2);
    assert_true(fabs(back - 100) < 1e-2);
    assert_true(ended > 1000);
    assert_true(fabs(stays + back + comes + ended - 2100) < 0.1);
}

static void a_timeline_finds_a_frame_by_its_time(void **state)
{
    (void)state;
    keep_three();
    begin(10);
    keep();
    assert_int_equal(timeline_find(&timeline, 0), 0);
    assert_int_equal(timeline_find(&timeline, (int64_t)1000 * SECOND - 1), 0);
    assert_int_equal(timeline_find(&timeline, (int64_t)1000 * SECOND), 1);
    assert_int_equal(timeline_find(&timeline, (int64_t)1003 * SECOND), 2);
    assert_int_equal(timeline_find(&timeline, (int64_t)1008 * SECOND), 3);
    assert_int_equal(timeline_find(&timeline, (int64_t)5000 * SECOND), 3);
}

static void a_stored_frame_has_the_same_shares_as_the_original_frame(void **state)
{
    struct vertices vertices;
    struct weights direct, kept, sum = { 0 };
    double elapsed_s = 0;

    (void)state;
    begin(0);
    add(1, SECOND, SECOND / 4, SECOND / 4, SECOND / 4);
    add(2, SECOND, SECOND, 0, 0);
    add(3, 0, 0, 0, 0);
    keep();
    assert_true(vertices_init(&vertices, &schema, names, 3));
    vertices.of_state[0] = 1;
    vertices.of_state[1] = 3;
    assert_true(vertices_weigh(&vertices, &frame, 0, &direct));
    assert_true(timeline_weigh(&timeline, 0, &vertices, &kept));
    assert_memory_equal(&direct, &kept, sizeof kept);
    assert_true(kept.shares[2] == 0.25 && kept.left_out == 0.25 && kept.missing == 0.25);
    assert_false(timeline_weigh(&timeline, 2, &vertices, &kept));

    weights_add(&sum, &elapsed_s, &direct, 0);
    assert_true(elapsed_s == 0);
    weights_add(&sum, &elapsed_s, &direct, 1);
    assert_true(timeline_weigh(&timeline, 1, &vertices, &kept));
    weights_add(&sum, &elapsed_s, &kept, 3);
    assert_true(elapsed_s == 4 && sum.shares[0] == 0.8125 && sum.left_out == 0.0625);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_timeline_stores_the_states_of_a_frame_as_shares_of_time),
        CASE(two_rows_of_one_entity_in_a_frame_are_merged),
        CASE(merging_frames_gives_one_longer_frame),
        CASE(merging_frames_in_pairs_leaves_a_third_frame_unchanged),
        CASE(a_timeline_of_limited_memory_loses_no_time),
        CASE(a_timeline_adds_up_short_lived_entities_by_name),
        CASE(a_timeline_finds_a_frame_by_its_time),
        CASE(a_stored_frame_has_the_same_shares_as_the_original_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
