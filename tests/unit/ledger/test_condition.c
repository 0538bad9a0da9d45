/* Conditions on frames: which texts are conditions, and in which frames they hold. */
#include "ledger/conditions/condition.h"

#include "counters/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH_NS NS_PER_S

static const struct column columns[] = {
    { "user_ns", "user", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "system_ns", "system", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY },
    { "disk_ns", "disk", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IO },
    { "sleep_ns", "sleep", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    { "switches", "switches", "", COLUMN_COUNTER, CAMP_MEASURED },
    { "bytes", "bytes", "", COLUMN_GAUGE, CAMP_MEASURED },
};
static const char *const labels[] = { "user_name" };
static const struct schema schema = { "made-up", columns, 7, 5, labels, 1 };

static void add(struct frame *frame, int64_t id, const char *name, const uint64_t *values)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = id;
    snprintf(entity->name, sizeof entity->name, "%s", name);
    frame->elapsed_ns[frame->entity_count - 1] = LENGTH_NS;
    memcpy(frame_values(frame, frame->entity_count - 1), values, 7 * sizeof *values);
}

static struct frame three(void)
{
    static const uint64_t values[3][7] = {
        /* user, system, run queue, disk, sleep (ms); switches, bytes */
        { 100, 20, 30, 50, 800, 7, 70 },
        { 10, 20, 31, 0, 939, 9, 90 },
        { 0, 0, 0, 400, 600, 1, 10 },
    };
    static const char *const names[] = { "postgres", "my server", "postgres" };
    struct frame frame;

    frame_init(&frame, &schema);
    frame.end_ns = LENGTH_NS;
    for (size_t i = 0; i < 3; i++) {
        uint64_t in_ns[7];

        for (size_t n = 0; n < 7; n++)
            in_ns[n] = values[i][n] * (n < 5 ? NS_PER_MS : 1);
        add(&frame, (int64_t)i + 41, names[i], in_ns);
    }
    return frame;
}

static bool holds(const char *text)
{
    struct condition_value values[CONDITION_MOST];
    struct condition condition;
    struct condition_fault fault;
    struct frame frame = three();
    size_t reason;
    bool ret;

    if (!condition_parse(&condition, &schema, NULL, text, &fault))
        fail_msg("%s: %s", text, fault.problem);
    ret = condition_holds(&condition, &frame, NULL, values, &reason);
    frame_release(&frame);
    return ret;
}

static void a_column_is_compared_with_its_largest_row(void **state)
{
    (void)state;
    assert_true(holds("run_queue > 30ms"));
    assert_true(holds("run_queue>30ms"));
    assert_true(holds("  run_queue   >=\t31ms "));
    assert_false(holds("run_queue > 31ms"));
    assert_false(holds("run_queue < 31ms"));
    assert_true(holds("run_queue <= 31ms"));
    assert_true(holds("run_queue < 31.5ms"));
}

static void a_sum_is_that_of_all_rows(void **state)
{
    (void)state;
    assert_true(holds("run_queue.sum > 60ms"));
    assert_false(holds("run_queue.sum > 61ms"));
    assert_true(holds("run_queue.sum >= 61ms"));
    assert_true(holds("switches.sum >= 17"));
    assert_false(holds("switches.sum > 17"));
}

static void a_limit_has_the_unit_of_its_column(void **state)
{
    (void)state;
    assert_true(holds("run_queue > 30999999ns"));
    assert_false(holds("run_queue > 31000000ns"));
    assert_true(holds("run_queue > 30999us"));
    assert_true(holds("disk >= 0.4s"));
    assert_true(holds("disk >= 400 ms"));
    assert_false(holds("disk > 0.4s"));
    assert_false(holds("disk > 1m"));
    assert_true(holds("disk >= 40%"));
    assert_false(holds("disk > 40%"));
    assert_true(holds("disk.sum >= 45%"));
    assert_true(holds("bytes > 89.5"));
}

static void derived_columns_are_those_of_the_orders(void **state)
{
    (void)state;
    assert_true(holds("cpu >= 120ms"));
    assert_false(holds("cpu > 120ms"));
    assert_true(holds("busy >= 400ms"));
    assert_true(holds("elapsed >= 1s"));
    assert_true(holds("unaccounted < 1ns"));
}

static bool has_row(const char *text)
{
    struct frame frame = three();
    struct condition condition;
    struct condition_fault fault;
    bool ret;

    assert_true(condition_parse(&condition, &schema, NULL, text, &fault));
    ret = condition_has_row(&condition.comparisons[0], &frame);
    frame_release(&frame);
    return ret;
}

static void a_row_is_found_by_its_name_or_its_id(void **state)
{
    (void)state;
    assert_true(holds("run_queue >= 30ms of postgres"));
    assert_false(holds("run_queue >= 31ms of postgres"));
    assert_true(holds("run_queue >= 31ms of \"my server\""));
    assert_true(holds("run_queue >= 31ms of 'my server'"));
    assert_true(holds("run_queue >= 31ms of 42"));
    assert_false(holds("run_queue >= 31ms of 43"));
    assert_true(holds("disk.sum >= 450ms of postgres"));
    assert_false(holds("disk > 0ms of nobody"));
    assert_true(holds("disk <= 0ms of nobody"));
    assert_true(has_row("disk > 0ms"));
    assert_true(has_row("disk > 0ms of postgres"));
    assert_true(has_row("disk.sum > 0ms of 42"));
    assert_false(has_row("disk > 0ms of nobody"));
    assert_false(has_row("disk > 0ms of 40"));
}

static void and_binds_more_tightly_than_or(void **state)
{
    (void)state;
    assert_true(holds("run_queue > 30ms and disk > 5%"));
    assert_false(holds("run_queue > 30ms and disk > 50%"));
    assert_true(holds("run_queue > 1s or disk > 5%"));
    assert_true(holds("disk > 5% or run_queue > 1s and switches > 1000"));
    assert_true(holds("run_queue > 1s and switches > 1000 or disk > 5%"));
    assert_false(holds("run_queue > 1s or switches > 1000"));
    assert_false(holds("run_queue > 1s or disk > 5% of postgres and switches > 1000"));
    assert_true(holds("switches > 1000 or switches > 1000 or switches > 8"));
}

static void a_value_has_its_row(void **state)
{
    struct condition_value values[CONDITION_MOST];
    struct condition condition;
    struct condition_fault fault;
    struct frame frame = three();
    char name[CONDITION_COLUMN_SIZE];
    size_t reason;

    (void)state;
    assert_true(condition_parse(&condition, &schema, NULL,
                                "run_queue > 1s or disk.sum > 0ms or user < 1s", &fault));
    assert_true(condition_holds(&condition, &frame, NULL, values, &reason));
    assert_int_equal(reason, 1);
    assert_int_equal(values[0].value, 31 * NS_PER_MS);
    assert_int_equal(values[0].row, 1);
    assert_false(values[0].holds);
    assert_int_equal(values[1].value, 450 * NS_PER_MS);
    assert_int_equal(values[1].row, 3);
    assert_true(values[1].holds);
    assert_int_equal(values[2].row, 0);
    condition_column(&condition.comparisons[0], &schema, name);
    assert_string_equal(name, "run_queue");
    condition_column(&condition.comparisons[1], &schema, name);
    assert_string_equal(name, "disk.sum");
    frame_release(&frame);
}

static void the_reason_is_the_first_term_that_holds(void **state)
{
    static const struct {
        const char *text;
        size_t reason;
    } cases[] = {
        { "run_queue > 30ms", 0 },
        { "run_queue > 30ms and disk > 5%", 0 },
        /* the first comparison holds, but its term does not */
        { "run_queue > 30ms and disk > 50% or switches > 8 and bytes > 1", 2 },
        { "run_queue > 1s or disk > 50% or switches > 8", 2 },
        { "run_queue > 1s or disk > 5% or switches > 8", 1 },
    };
    struct frame frame = three();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct condition_value values[CONDITION_MOST];
        struct condition condition;
        struct condition_fault fault;
        size_t reason = CONDITION_MOST;

        assert_true(condition_parse(&condition, &schema, NULL, cases[i].text, &fault));
        assert_true(condition_holds(&condition, &frame, NULL, values, &reason));
        if (reason != cases[i].reason)
            fail_msg("%s: %zu", cases[i].text, reason);
    }
    frame_release(&frame);
}

/* Two CPUs with their total, as --from cpus has them. */
static struct frame cpus(void)
{
    static const uint64_t values[3][7] = {
        { 0, 0, 0, 700 * NS_PER_MS, 0, 30, 0 },
        { 0, 0, 0, 300 * NS_PER_MS, 0, 10, 0 },
        { 0, 0, 0, 400 * NS_PER_MS, 0, 20, 0 },
    };
    struct frame frame;

    frame_init(&frame, &schema);
    frame.end_ns = LENGTH_NS;
    add(&frame, CAMP_CPU_TOTAL, "all", values[0]);
    add(&frame, 0, "cpu0", values[1]);
    add(&frame, 1, "cpu1", values[2]);
    return frame;
}

static struct condition_value value_in(struct frame *frame, const char *text)
{
    struct condition_value values[CONDITION_MOST];
    struct condition condition;
    struct condition_fault fault;
    size_t reason;

    assert_true(condition_parse(&condition, &schema, NULL, text, &fault));
    condition_holds(&condition, frame, NULL, values, &reason);
    return values[0];
}

static void the_total_of_all_cpus_counts_only_if_it_is_named(void **state)
{
    struct frame frame = cpus();

    (void)state;
    assert_int_equal(value_in(&frame, "disk > 0ms").value, 400 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "disk > 0ms").row, 2);
    assert_int_equal(value_in(&frame, "disk.sum > 0ms").value, 700 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "switches.sum > 0").value, 30);
    assert_int_equal(value_in(&frame, "disk > 0ms of all").value, 700 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "disk > 0ms of all").row, 0);
    frame_release(&frame);
}

static void threads_outside_of_the_namespace_count_only_if_they_are_named(void **state)
{
    static const uint64_t outside[7] = { 900 * NS_PER_MS };
    struct frame frame = three();

    (void)state;
    add(&frame, 0, "outside", outside);
    frame.entities[3].flags = ENTITY_OUTSIDE;
    assert_int_equal(value_in(&frame, "user > 0ms").value, 100 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "user.sum > 0ms").value, 110 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "user > 0ms of outside").value, 900 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "user > 0ms of 0").value, 0);
    frame_release(&frame);
}

static void a_row_may_have_the_id_0(void **state)
{
    static const uint64_t values[7] = { NS_PER_MS };
    struct frame frame = cpus(), named;

    (void)state;
    assert_int_equal(value_in(&frame, "disk > 0ms of 0").value, 300 * NS_PER_MS);
    assert_int_equal(value_in(&frame, "disk > 0ms of 1").value, 400 * NS_PER_MS);
    frame_release(&frame);
    /* rows that only their names identify */
    frame_init(&named, &schema);
    add(&named, 0, "postgres", values);
    assert_int_equal(value_in(&named, "user > 0ms of 0").value, 0);
    frame_release(&named);
}

static void the_syntax_is_checked_without_a_schema(void **state)
{
    static const char *const right[] = { "a > 1", "a > 1 and b > 2 ms",
                                         "a.sum > 1ms of 'b c' and b >= 5% or c < 2" };
    static const char *const wrong[] = { "",        "a",   "a >",        "a > ms",   "a > 1MB",
                                         "a > 1 b", "> 1", "a > 1ms of", "a > 1 and" };
    struct condition condition;
    struct condition_fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_true(condition_parse(&condition, NULL, NULL, right[i], &fault));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (condition_parse(&condition, NULL, NULL, wrong[i], &fault))
            fail_msg("%s", wrong[i]);
    }
}

static void rows_of_idle_entities_are_needed_only_for_columns_that_they_may_have(void **state)
{
    static const struct {
        const char *text;
        bool counts;
    } cases[] = {
        { "run_queue > 1ms", false }, { "user > 1ms", false },
        { "cpu > 1ms", false },       { "switches > 1", false },
        { "bytes > 1", true },        { "disk > 1ms", true },
        { "sleep > 1ms", true },      { "busy > 1ms", true },
        { "elapsed > 1ms", true },    { "cpu > 1ms or disk > 1ms", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct condition condition;
        struct condition_fault fault;

        assert_true(condition_parse(&condition, &schema, NULL, cases[i].text, &fault));
        if (condition_counts_idle(&condition, &schema) != cases[i].counts)
            fail_msg("%s", cases[i].text);
    }
}

static void an_empty_frame_has_the_value_0(void **state)
{
    struct condition_value values[CONDITION_MOST];
    struct condition condition;
    struct condition_fault fault;
    struct frame frame;
    size_t reason;

    (void)state;
    frame_init(&frame, &schema);
    assert_true(condition_parse(&condition, &schema, NULL, "disk < 1ms", &fault));
    assert_true(condition_holds(&condition, &frame, NULL, values, &reason));
    assert_int_equal(values[0].value, 0);
    assert_int_equal(values[0].row, 0);
    assert_true(condition_parse(&condition, &schema, NULL, "disk > 0%", &fault));
    assert_false(condition_holds(&condition, &frame, NULL, values, &reason));
}

static void a_wrong_text_is_rejected_with_its_place(void **state)
{
    static const struct {
        const char *text, *problem, *rest;
    } cases[] = {
        { "", "a column is missing", "" },
        { "   ", "a column is missing", "" },
        { "> 20ms", "a column is missing", "> 20ms" },
        { "queue > 20ms", "there is no such column", "queue" },
        { "user_name > 20ms", "there is no such column", "user_name" },
        { "name > 20ms", "there is no such column", "name" },
        { "disk.min > 20ms", "there is no such column", "disk.min" },
        { "disk.max > 20ms", "there is no such column", "disk.max" },
        { "disk.sum.max > 20ms", "there is no such column", "disk.sum.max" },
        { "disk.sum.sum > 20ms", "there is no such column", "disk.sum.sum" },
        { ".sum > 20ms", "there is no such column", ".sum" },
        { "disk", "an operator is missing", "" },
        { "disk 20ms", "an operator is missing", "20ms" },
        { "disk = 20ms", "an operator is missing", "= 20ms" },
        { "disk >", "a number is missing", "" },
        { "disk > ms", "a number is missing", "ms" },
        { "disk > -1ms", "a number is missing", "-1ms" },
        { "disk > inf", "a number is missing", "inf" },
        { "disk > 20", "a time has a unit", "" },
        { "disk > 20 of a", "a time has a unit", "of a" },
        { "disk > 20MB", "a time has a unit", "MB" },
        { "disk > 0x20ms", "a time has a unit", "x20ms" },
        { "switches > 20%", "this column is not a time, so its limit has no unit", "%" },
        { "disk > 20ms of", "a name is missing", "" },
        { "disk > 20ms of \"\"", "a name is missing", "\"" },
        { "disk > 20ms of 'a", "a quote is not closed", "a" },
        { "disk > 20ms disk", "\"and\" or \"or\" is missing", "disk" },
        { "disk > 20ms and", "a column is missing", "" },
        { "disk > 20ms or or", "there is no such column", "or" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct condition condition;
        struct condition_fault fault = { 0 };

        if (condition_parse(&condition, &schema, NULL, cases[i].text, &fault) ||
            strcmp(fault.problem, cases[i].problem) != 0 || strcmp(fault.rest, cases[i].rest) != 0)
            fail_msg("%s: %s before \"%s\"", cases[i].text, fault.problem, fault.rest);
    }
}

static void more_comparisons_than_fit_are_rejected(void **state)
{
    char text[512] = "disk > 1ms";
    struct condition condition;
    struct condition_fault fault;

    (void)state;
    for (size_t i = 1; i < CONDITION_MOST; i++)
        strcat(text, " and disk > 1ms");
    assert_true(condition_parse(&condition, &schema, NULL, text, &fault));
    strcat(text, " or disk > 1ms");
    assert_false(condition_parse(&condition, &schema, NULL, text, &fault));
    assert_string_equal(fault.problem, "there are more than 8 comparisons");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_is_compared_with_its_largest_row),
        cmocka_unit_test(a_sum_is_that_of_all_rows),
        cmocka_unit_test(a_limit_has_the_unit_of_its_column),
        cmocka_unit_test(derived_columns_are_those_of_the_orders),
        cmocka_unit_test(a_row_is_found_by_its_name_or_its_id),
        cmocka_unit_test(and_binds_more_tightly_than_or),
        cmocka_unit_test(a_value_has_its_row),
        cmocka_unit_test(the_reason_is_the_first_term_that_holds),
        cmocka_unit_test(the_total_of_all_cpus_counts_only_if_it_is_named),
        cmocka_unit_test(threads_outside_of_the_namespace_count_only_if_they_are_named),
        cmocka_unit_test(a_row_may_have_the_id_0),
        cmocka_unit_test(the_syntax_is_checked_without_a_schema),
        cmocka_unit_test(rows_of_idle_entities_are_needed_only_for_columns_that_they_may_have),
        cmocka_unit_test(an_empty_frame_has_the_value_0),
        cmocka_unit_test(a_wrong_text_is_rejected_with_its_place),
        cmocka_unit_test(more_comparisons_than_fit_are_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
