/* Tests the columns of threads if the session does not measure some states. An unmeasured state is
 * unknown, so it has no column. */
#include "sources/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TRAP (1u << CAMP_STATE_TRAP)
#define TEXT_FAULT (1u << CAMP_STATE_TEXT_FAULT)
#define KERNEL_FAULT (1u << CAMP_STATE_KERNEL_FAULT)

#define CALLS (UINT64_C(1) << THREADS_SYSTEM_CALLS)
#define SAMPLED (UINT64_C(1) << THREADS_SAMPLED)

static const uint64_t masks[] = {
    0,
    TRAP,
    TEXT_FAULT,
    KERNEL_FAULT,
    TEXT_FAULT | KERNEL_FAULT,
    TEXT_FAULT | KERNEL_FAULT | TRAP,
    CALLS,
    1u << CAMP_STATE_SYSTEM | TRAP | CALLS,
    SAMPLED,
    CALLS | SAMPLED,
};
#define MASK_COUNT (sizeof masks / sizeof masks[0])

static bool is_absent(uint64_t unmeasured, size_t column)
{
    return (unmeasured >> column & 1) != 0;
}

/* Counts the absent ones of the first columns. */
static size_t absent_count(uint64_t unmeasured, size_t columns)
{
    size_t count = 0;

    for (size_t i = 0; i < columns; i++)
        count += is_absent(unmeasured, i);
    return count;
}

static void unmeasured_states_have_no_column_and_all_other_columns_are_found(void **state)
{
    (void)state;
    for (size_t m = 0; m < MASK_COUNT; m++) {
        struct threads_columns measured;
        const struct schema *schema = &measured.schema;

        threads_columns_fill(&measured, masks[m]);
        assert_int_equal(schema->column_count,
                         THREADS_COLUMN_COUNT - absent_count(masks[m], THREADS_COLUMN_COUNT));
        assert_int_equal(schema->state_count,
                         CAMP_STATE_COUNT - absent_count(masks[m], CAMP_STATE_COUNT));
        for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++) {
            assert_int_equal(threads_have(schema, i), !is_absent(masks[m], i));
            if (!is_absent(masks[m], i))
                assert_string_equal(schema->columns[threads_column(schema, i)].name,
                                    threads_schema.columns[i].name);
        }
    }
}

static void values_are_added_to_the_columns_of_their_names(void **state)
{
    (void)state;
    for (size_t m = 0; m < MASK_COUNT; m++) {
        uint64_t did[THREADS_COLUMN_COUNT], values[THREADS_COLUMN_COUNT + 1] = { 0 };
        struct threads_columns measured;

        threads_columns_fill(&measured, masks[m]);
        for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++)
            did[i] = is_absent(masks[m], i) ? 0 : 100 + i;
        for (size_t i = 0; i < 2; i++)
            threads_values_add(values, measured.unmeasured, did, THREADS_COLUMN_COUNT);
        for (size_t i = 0; i < THREADS_COLUMN_COUNT; i++) {
            if (!is_absent(masks[m], i))
                assert_int_equal(values[threads_column(&measured.schema, i)], 2 * did[i]);
        }
        assert_int_equal(values[measured.schema.column_count], 0);
    }
}

static void the_states_of_a_row_add_up_to_the_same_time_without_unmeasured_states(void **state)
{
    (void)state;
    for (size_t m = 0; m < MASK_COUNT; m++) {
        uint64_t did[THREADS_COLUMN_COUNT] = { 0 }, sum = 0, elapsed = 0;
        struct threads_columns measured;
        struct frame frame;

        threads_columns_fill(&measured, masks[m]);
        frame_init(&frame, &measured.schema);
        assert_non_null(frame_add(&frame));
        for (size_t i = 0; i < CAMP_STATE_COUNT; i++) {
            did[i] = is_absent(masks[m], i) ? 0 : 1000 + i;
            elapsed += did[i];
        }
        did[THREADS_SYSTEM_CALLS] = 7;
        frame.elapsed_ns[0] = elapsed;
        threads_values_add(frame_values(&frame, 0), measured.unmeasured, did, THREADS_COLUMN_COUNT);
        for (size_t i = 0; i < measured.schema.state_count; i++)
            sum += frame_values(&frame, 0)[i];
        assert_int_equal(sum, elapsed);
        assert_int_equal(frame_unaccounted_ns(&frame, 0), 0);
        frame_release(&frame);
    }
}

static void threads_are_recognized_by_their_columns_whichever_states_are_absent(void **state)
{
    struct threads_columns measured;

    (void)state;
    for (size_t m = 0; m < MASK_COUNT; m++) {
        threads_columns_fill(&measured, masks[m]);
        assert_true(threads_have_columns(&measured.schema));
    }
    assert_false(threads_have_columns(&threads_schedstat_schema));
    assert_false(threads_have_columns(&cpus_states_schema));
    threads_columns_fill(&measured, TRAP);
    measured.columns[CAMP_STATE_LOCK].name = "another_ns";
    assert_false(threads_have_columns(&measured.schema));
    threads_columns_fill(&measured, 0);
    measured.schema.state_count--; /* a state is recorded as a counter */
    assert_false(threads_have_columns(&measured.schema));
}

static void without_a_session_nothing_is_measured(void **state)
{
    (void)state;
    assert_int_equal(threads_unmeasured(NULL), (UINT64_C(1) << THREADS_COLUMN_COUNT) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmeasured_states_have_no_column_and_all_other_columns_are_found),
        cmocka_unit_test(values_are_added_to_the_columns_of_their_names),
        cmocka_unit_test(the_states_of_a_row_add_up_to_the_same_time_without_unmeasured_states),
        cmocka_unit_test(threads_are_recognized_by_their_columns_whichever_states_are_absent),
        cmocka_unit_test(without_a_session_nothing_is_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
