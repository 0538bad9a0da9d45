/* Conditions on how long waits lasted: columns of a second frame, whose rows are groups. */
#include "ledger/conditions/condition.h"

#include "counters/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct column columns[] = {
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
    { "disk_ns", "disk", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
};
static const struct schema schema = { "threads", columns, 2, 2 };
static const struct column length_columns[] = {
    { "run_queue.max_ns", "run_queue.max", "", COLUMN_STATE, CAMP_MEASURED },
    { "run_queue.p99_ns", "run_queue.p99", "", COLUMN_STATE, CAMP_MEASURED },
    { "run_queue.p50_ns", "run_queue.p50", "", COLUMN_STATE, CAMP_MEASURED },
    /* Of a state that nothing measures: the rows do not have it. */
    { "sleep.max_ns", "sleep.max", "", COLUMN_STATE, CAMP_MEASURED },
};
static const struct schema lengths_of_waits = { "lengths", length_columns, 4, 4 };

static void add(struct frame *frame, int64_t id, const char *name, uint64_t first, uint64_t second,
                uint64_t third)
{
    struct entity *entity = frame_add(frame);
    uint64_t *values = frame_values(frame, frame->entity_count - 1);

    assert_non_null(entity);
    entity->id = id;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    values[0] = first;
    values[1] = second;
    if (frame->schema == &lengths_of_waits)
        values[2] = third;
}

/* A thread of db queued for 40 ms in all. Its longest wait was 25 ms, and that of batch 60 ms. */
static bool holds(const char *text, struct condition_value values[CONDITION_MOST],
                  struct condition *condition)
{
    struct condition_fault fault;
    struct frame frame, lengths;
    size_t reason;
    bool ret;

    if (!condition_parse(condition, &schema, &lengths_of_waits, text, &fault))
        fail_msg("%s: %s", text, fault.problem);
    frame_init(&frame, &schema);
    frame_init(&lengths, &lengths_of_waits);
    frame.end_ns = lengths.end_ns = NS_PER_S;
    add(&frame, 41, "db", 40 * NS_PER_MS, 0, 0);
    add(&lengths, 0, "db", 25 * NS_PER_MS, 20 * NS_PER_MS, NS_PER_MS);
    add(&lengths, 7, "batch", 60 * NS_PER_MS, 2 * NS_PER_MS, NS_PER_MS);
    ret = condition_holds(condition, &frame, &lengths, values, &reason);
    frame_release(&frame);
    frame_release(&lengths);
    return ret;
}

static void a_length_is_compared_with_the_largest_of_all_groups_or_with_one(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        { "run_queue.max > 59ms", true },
        { "run_queue.max > 60ms", false },
        { "run_queue.max > 20ms of db", true },
        { "run_queue.max > 26ms of db", false },
        { "run_queue.max > 5% of batch", true },
        { "run_queue.max > 5% of 7", true },
        { "run_queue.max > 1ms of nobody", false },
        { "run_queue.p99 >= 20ms", true },
        { "run_queue.p99 > 2ms of batch", false },
        { "run_queue.p50 <= 1ms", true },
        { "run_queue > 39ms and run_queue.max > 20ms of db", true },
        { "run_queue > 41ms and run_queue.max > 20ms of db", false },
        { "run_queue > 41ms or run_queue.max > 20ms of db", true },
    };
    struct condition_value values[CONDITION_MOST];
    struct condition condition;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (holds(cases[i].text, values, &condition) != cases[i].holds)
            fail_msg("%s", cases[i].text);
    }
}

static void a_value_of_lengths_has_the_row_and_the_name_of_the_second_frame(void **state)
{
    struct condition_value values[CONDITION_MOST];
    struct condition condition;
    char name[CONDITION_COLUMN_SIZE];

    (void)state;
    assert_true(holds("run_queue > 1ms and run_queue.max > 1ms", values, &condition));
    assert_false(condition.comparisons[0].of_lengths);
    assert_true(condition.comparisons[1].of_lengths);
    assert_int_equal(values[0].row, 0);
    assert_int_equal(values[1].row, 1);
    assert_int_equal(values[1].value, 60 * NS_PER_MS);
    condition_column(&condition.comparisons[1], &lengths_of_waits, name);
    assert_string_equal(name, "run_queue.max");
}

static void lengths_are_rejected_without_a_second_frame_or_as_a_sum(void **state)
{
    static const char *const wrong[] = { "run_queue.max > 1ms", "run_queue.max.sum > 1ms",
                                         "run_queue.p98 > 1ms", "busy.max > 1ms",
                                         "sleep.max > 1ms",     "run_queue.max > 5" };
    struct condition condition;
    struct condition_fault fault;

    (void)state;
    assert_false(condition_parse(&condition, &schema, NULL, wrong[0], &fault));
    assert_null(fault.advice);
    assert_string_equal(fault.rest, "run_queue.max");
    assert_true(condition_is_of_lengths(fault.rest));
    assert_false(condition_is_of_lengths("run_queue.sum"));
    for (size_t i = 1; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (condition_parse(&condition, &schema, &lengths_of_waits, wrong[i], &fault))
            fail_msg("%s", wrong[i]);
    }
}

static void lengths_need_no_rows_of_idle_entities(void **state)
{
    struct condition condition;
    struct condition_fault fault;

    (void)state;
    assert_true(condition_parse(&condition, &schema, &lengths_of_waits,
                                "run_queue.max > 1ms and run_queue > 1ms", &fault));
    assert_false(condition_counts_idle(&condition, &schema));
    assert_true(condition_parse(&condition, &schema, &lengths_of_waits, "disk > 1ms", &fault));
    assert_true(condition_counts_idle(&condition, &schema));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_is_compared_with_the_largest_of_all_groups_or_with_one),
        cmocka_unit_test(a_value_of_lengths_has_the_row_and_the_name_of_the_second_frame),
        cmocka_unit_test(lengths_are_rejected_without_a_second_frame_or_as_a_sum),
        cmocka_unit_test(lengths_need_no_rows_of_idle_entities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
