/* The causes of waits of two recordings: matched by names, and compared with the time that has no
 * cause in mind. */
#include "commands/compare/compare_causes.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "sources/causes/cause_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INTERVALS 40
enum { OTHERS, WEB, BATCH, LOGGER };

static const struct column columns[] = {
    { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
    { "disk_ns", "disk", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
};
static const struct schema schema = { "threads", columns, 3, 3 };

struct recorded {
    struct source source; /* must be the first member */
    struct causes *causes;
    int result;
};

static int read_causes(struct source *source, const struct causes **ret, struct camp_error *error)
{
    const struct recorded *recorded = (const struct recorded *)source;

    snprintf(error->message, sizeof error->message, "damaged");
    *ret = recorded->result == CAMP_OK ? recorded->causes : NULL;
    return recorded->result;
}

static void add_group(struct causes *causes, uint32_t kind, int32_t pid, const char *name)
{
    struct camp_states_group *group = &causes->groups[causes->group_count];

    *group = (struct camp_states_group){ .number = (uint32_t)causes->group_count++,
                                         .kind = kind,
                                         .pid = pid };
    snprintf(group->name, sizeof group->name, "%s", name);
}

static struct recorded make_recorded(const char *culprit)
{
    struct recorded ret = { .source.causes = read_causes, .causes = calloc(1, sizeof *ret.causes) };

    assert_non_null(ret.causes);
    ret.causes->is_recorded = true;
    add_group(ret.causes, CAMP_GROUP_OTHER, 0, "");
    add_group(ret.causes, CAMP_GROUP_NAME, 0, "web");
    add_group(ret.causes, CAMP_GROUP_NAME, 0, culprit);
    add_group(ret.causes, CAMP_GROUP_NAME, 0, "logger");
    return ret;
}

static void release_recorded(struct recorded *recorded)
{
    free(recorded->causes->rows.items);
    free(recorded->causes);
}

/* Both recordings, and what is compared. */
struct scene {
    struct compare_side sides[2];
    struct compared_entities entities;
    struct compared_causes causes;
    struct comparison states, differences;
};

static void start(struct scene *scene)
{
    *scene = (struct scene){ 0 };
    for (int i = 0; i < 2; i++) {
        scene->sides[i].number = i;
        scene->sides[i].page.schema = &schema;
        timeline_init(&scene->sides[i].timeline, &schema, SIZE_MAX);
        cause_times_start(&scene->sides[i].causes, &scene->causes);
    }
    assert_int_equal(comparison_match_states(&scene->states, scene->sides), CAMP_OK);
}

static void release(struct scene *scene)
{
    for (int i = 0; i < 2; i++) {
        timeline_release(&scene->sides[i].timeline);
        cause_times_release(&scene->sides[i].causes);
    }
    compared_entities_release(&scene->entities);
    compared_causes_release(&scene->causes);
    comparison_release(&scene->states);
    comparison_release(&scene->differences);
}

static void add_row(struct frame *frame, int64_t id, uint64_t queue_ns)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = id;
    frame->elapsed_ns[frame->entity_count - 1] = NS_PER_S;
    frame_values(frame, frame->entity_count - 1)[0] = NS_PER_S - queue_ns;
    frame_values(frame, frame->entity_count - 1)[1] = queue_ns;
}

/* Adds intervals of a second in which web waited for a CPU for `queue_ns`, and as long behind its
 * culprit, and nobody, as the causes of `recorded` say. The times vary by 1 %. */
static void add_intervals(struct scene *scene, int side, struct recorded *recorded,
                          uint64_t queue_ns, uint64_t behind_ns)
{
    struct compare_side *to = &scene->sides[side];
    struct frame frame;
    size_t web;

    frame_init(&frame, &schema);
    assert_int_equal(compared_entities_enter(&scene->entities, "web", "", side, &web), CAMP_OK);
    for (uint64_t i = 0; i < INTERVALS; i++) {
        const uint64_t noise = i * 7 % 11 * NS_PER_MS;
        const struct cause row = { WEB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, BATCH,
                                   behind_ns + noise };

        frame_clear(&frame);
        frame.start_ns = i * NS_PER_S;
        frame.end_ns = (i + 1) * NS_PER_S;
        add_row(&frame, COMPARE_CLOCK, 0);
        add_row(&frame, COMPARE_ID + (int64_t)web, queue_ns + noise);
        assert_int_equal(timeline_add(&to->timeline, &frame), CAMP_OK);
        recorded->causes->rows.count = 0;
        assert_true(cause_add(&recorded->causes->rows, &row));
        assert_int_equal(cause_times_add(&to->causes, &recorded->source, &frame, &scene->entities,
                                         &scene->states),
                         CAMP_OK);
    }
    frame_release(&frame);
}

static void compare(struct scene *scene)
{
    const struct timeline *const timelines[2] = { &scene->sides[0].timeline,
                                                  &scene->sides[1].timeline };

    scene->states.entities = &scene->entities;
    assert_int_equal(comparison_fill(&scene->states, timelines, scene->entities.count, 0.01, 1),
                     CAMP_OK);
    assert_int_equal(compare_causes(&scene->differences, &scene->states, scene->sides, 0.01, 1),
                     CAMP_OK);
    assert_int_equal(comparison_sort(&scene->states), CAMP_OK);
}

static const struct compared_row *row_of(const struct scene *scene, const char *who)
{
    for (size_t i = 0; i < scene->differences.count; i++) {
        if (strcmp(scene->causes.items[scene->differences.rows[i].entity].who, who) == 0)
            return &scene->differences.rows[i];
    }
    return NULL;
}

static void a_cause_is_matched_by_names_and_not_by_numbers_and_pids(void **state)
{
    struct recorded one = make_recorded("batch"), other = make_recorded("none");
    struct scene scene;

    (void)state;
    start(&scene);
    other.causes->groups[BATCH] =
        (struct camp_states_group){ BATCH, CAMP_GROUP_PROCESS, 4711, 0, "batch", 0 };
    add_intervals(&scene, 0, &one, 100 * NS_PER_MS, 100 * NS_PER_MS);
    add_intervals(&scene, 1, &other, 300 * NS_PER_MS, 300 * NS_PER_MS);
    compare(&scene);
    assert_int_equal(scene.causes.count, 1);
    assert_string_equal(scene.causes.items[0].label, "behind batch");
    assert_int_equal(scene.differences.more, 1);
    assert_true(scene.differences.rows[0].rate.difference.value > 0.199);
    assert_true(scene.differences.rows[0].rate.difference.value < 0.201);
    assert_int_equal(scene.states.rows[0].causes_found, 1);
    release(&scene);
    release_recorded(&one);
    release_recorded(&other);
}

static void another_culprit_of_the_same_time_is_a_difference_of_two_causes(void **state)
{
    struct recorded one = make_recorded("batch"), other = make_recorded("backup");
    struct scene scene;

    (void)state;
    start(&scene);
    add_intervals(&scene, 0, &one, 200 * NS_PER_MS, 200 * NS_PER_MS);
    add_intervals(&scene, 1, &other, 200 * NS_PER_MS, 200 * NS_PER_MS);
    compare(&scene);
    assert_int_equal(scene.states.more + scene.states.less, 0);
    assert_int_equal(row_of(&scene, "batch")->verdict, DIFFERENCE_LESS);
    assert_int_equal(row_of(&scene, "backup")->verdict, DIFFERENCE_MORE);
    /* The state whose causes differ comes first. */
    assert_string_equal(scene.states.states[scene.states.rows[0].state].name, "run_queue");
    assert_int_equal(scene.states.rows[0].causes_found, 2);
    release(&scene);
    release_recorded(&one);
    release_recorded(&other);
}

static void time_without_a_cause_makes_the_intervals_wider(void **state)
{
    struct recorded one = make_recorded("batch"), other = make_recorded("batch");
    struct scene scene;

    (void)state;
    /* In B 300 ms of the 400 ms have no cause: batch may have caused as much as in A. */
    start(&scene);
    add_intervals(&scene, 0, &one, 400 * NS_PER_MS, 400 * NS_PER_MS);
    add_intervals(&scene, 1, &other, 400 * NS_PER_MS, 100 * NS_PER_MS);
    compare(&scene);
    assert_int_equal(row_of(&scene, "batch")->verdict, DIFFERENCE_NONE);
    assert_true(row_of(&scene, "batch")->rate.difference.wide.high >= 0);
    assert_true(scene.differences.undivided[0][0] < 1e-6);
    assert_true(scene.differences.undivided[1][0] > 0.299 &&
                scene.differences.undivided[1][0] < 0.301);
    release(&scene);
    /* Without these 300 ms, batch caused less. */
    start(&scene);
    add_intervals(&scene, 0, &one, 400 * NS_PER_MS, 400 * NS_PER_MS);
    add_intervals(&scene, 1, &other, 100 * NS_PER_MS, 100 * NS_PER_MS);
    compare(&scene);
    assert_int_equal(row_of(&scene, "batch")->verdict, DIFFERENCE_LESS);
    release(&scene);
    release_recorded(&one);
    release_recorded(&other);
}

static void causes_of_one_side_of_other_groups_or_damaged_are_not_compared(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct recorded one = make_recorded("batch"), other = make_recorded("batch");
        struct scene scene;

        start(&scene);
        scene.sides[1].causes.is_of_other_groups = i == 1;
        scene.sides[1].causes.without = i == 4;
        other.source.causes = i == 2 ? NULL : read_causes;
        other.result = i == 3 ? CAMP_E_FORMAT : CAMP_OK;
        add_intervals(&scene, 0, &one, 400 * NS_PER_MS, 400 * NS_PER_MS);
        add_intervals(&scene, 1, &other, 100 * NS_PER_MS, 100 * NS_PER_MS);
        compare(&scene);
        assert_int_equal(scene.differences.count, i == 0);
        assert_int_equal(compare_has_causes(scene.sides), i == 0);
        assert_int_equal(scene.sides[1].causes.is_damaged, i == 3);
        release(&scene);
        release_recorded(&one);
        release_recorded(&other);
    }
}

/* Half of the risk is that of the states. */
static void the_intervals_are_those_of_twice_as_many_causes(void **state)
{
    struct recorded one = make_recorded("batch"), other = make_recorded("batch");
    const struct compared_value *value;
    struct difference difference;
    struct scene scene;

    (void)state;
    start(&scene);
    add_intervals(&scene, 0, &one, 100 * NS_PER_MS, 100 * NS_PER_MS);
    add_intervals(&scene, 1, &other, 300 * NS_PER_MS, 300 * NS_PER_MS);
    compare(&scene);
    value = &row_of(&scene, "batch")->rate;
    difference_of(&value->ratios[0], &value->ratios[1], 2, &difference);
    assert_true(difference.wide.high - value->difference.wide.high < 1e-6 &&
                value->difference.wide.high - difference.wide.high < 1e-6);
    assert_true(value->difference.wide.high > value->difference.own.high + 1e-6);
    release(&scene);
    release_recorded(&one);
    release_recorded(&other);
}

/* All of its waits are in one half of each recording, so little is known of their rate. */
static void an_interval_is_bounded_by_the_time_of_the_entity(void **state)
{
    struct recorded one = make_recorded("batch"), other = make_recorded("batch");
    struct scene scene;

    (void)state;
    start(&scene);
    for (int i = 0; i < 2; i++) {
        const uint64_t wait_ns = (i == 0 ? 0 : 900) * NS_PER_MS;

        add_intervals(&scene, 0, &one, wait_ns, wait_ns);
        add_intervals(&scene, 1, &other, wait_ns, wait_ns);
    }
    compare(&scene);
    for (size_t i = 0; i < scene.states.count; i++) {
        const bool may_be_negative = scene.states.rows[i].state == schema.state_count;
        const double most = may_be_negative ? 2.001 : 1.001;

        assert_true(scene.states.rows[i].rate.difference.wide.high < most);
        assert_true(scene.states.rows[i].rate.difference.wide.low > -most);
        assert_true(scene.states.rows[i].share.difference.wide.high <= 1);
    }
    assert_true(row_of(&scene, "batch")->rate.difference.wide.high > 0.9);
    assert_true(row_of(&scene, "batch")->rate.difference.wide.high < 1.001);
    assert_true(row_of(&scene, "batch")->rate.difference.wide.low > -1.001);
    release(&scene);
    release_recorded(&one);
    release_recorded(&other);
}

static void two_recordings_without_entities_have_no_causes(void **state)
{
    struct recorded one = make_recorded("batch");
    struct frame frame;
    struct scene scene;

    (void)state;
    start(&scene);
    frame_init(&frame, &schema);
    frame.end_ns = NS_PER_S;
    for (int i = 0; i < 2; i++)
        assert_int_equal(cause_times_add(&scene.sides[i].causes, &one.source, &frame,
                                         &scene.entities, &scene.states),
                         CAMP_OK);
    compare(&scene);
    assert_int_equal(scene.differences.count, 0);
    frame_release(&frame);
    release(&scene);
    release_recorded(&one);
}

static void causes_have_labels_for_a_table(void **state)
{
    static const struct {
        uint32_t state, kind;
        const char *label;
    } wanted[] = {
        { CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_INTERRUPTS, "behind interrupts" },
        { CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_IDLE, "the CPU was idle: wake-up latency" },
        { CAMP_STATE_DISK, CAMP_CAUSE_DEVICE, "woken by irq 3" },
        { CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, "woken by logger" },
        { CAMP_STATE_PIPE, CAMP_CAUSE_TIMER, "woken by a timer" },
        { CAMP_STATE_PIPE, CAUSE_NOT_ENDED, "nothing has woken it yet" },
        { CAMP_STATE_THROTTLED, CAUSE_QUOTA, "its own quota" },
    };
    struct recorded recorded = make_recorded("batch");
    struct compared_causes causes = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
        const struct cause row = { WEB, wanted[i].state, wanted[i].kind, LOGGER, 1 };
        size_t found;

        assert_int_equal(compared_causes_enter(&causes, recorded.causes, &row, 0, i, &found),
                         CAMP_OK);
        assert_int_equal(found, i);
        assert_string_equal(causes.items[found].label, wanted[i].label);
    }
    compared_causes_release(&causes);
    release_recorded(&recorded);
}

/* The number of a group may be that of no group in the list, or of one that has no name yet. */
static void a_culprit_without_a_name_has_a_label(void **state)
{
    const struct cause rows[] = { { WEB, CAMP_STATE_RUN_QUEUE, CAMP_CAUSE_GROUP, 60, 1 },
                                  { WEB, CAMP_STATE_PIPE, CAMP_CAUSE_GROUP, 60, 1 } };
    struct recorded recorded = make_recorded("");
    struct compared_causes causes = { 0 };
    size_t found;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_int_equal(compared_causes_enter(&causes, recorded.causes, &rows[i], 0, i, &found),
                         CAMP_OK);
    assert_string_equal(causes.items[0].label, "behind an unnamed process");
    assert_string_equal(causes.items[1].label, "woken by an unnamed process");
    compared_causes_release(&causes);
    release_recorded(&recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cause_is_matched_by_names_and_not_by_numbers_and_pids),
        cmocka_unit_test(another_culprit_of_the_same_time_is_a_difference_of_two_causes),
        cmocka_unit_test(time_without_a_cause_makes_the_intervals_wider),
        cmocka_unit_test(causes_of_one_side_of_other_groups_or_damaged_are_not_compared),
        cmocka_unit_test(the_intervals_are_those_of_twice_as_many_causes),
        cmocka_unit_test(an_interval_is_bounded_by_the_time_of_the_entity),
        cmocka_unit_test(two_recordings_without_entities_have_no_causes),
        cmocka_unit_test(causes_have_labels_for_a_table),
        cmocka_unit_test(a_culprit_without_a_name_has_a_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
