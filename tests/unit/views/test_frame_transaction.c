/* The column of database sessions that are idle in a transaction, beside many other states. */
#include "views/frame_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct column columns[] = {
    { "cpu_ns", "CPU", "", COLUMN_STATE, CAMP_MEASURED, CLASS_CPU },
    { "run_queue_ns", "run queue", "", COLUMN_STATE, CAMP_MEASURED, CLASS_READY, "runq" },
    { "wait_a_ns", "a", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
    { "wait_b_ns", "b", "", COLUMN_STATE, CAMP_MEASURED, CLASS_OTHER_WAIT },
    { "idle_client_ns", "client", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
    { "idle_in_transaction_ns", "in transaction", "", COLUMN_STATE, CAMP_MEASURED, CLASS_IDLE },
};
static const struct schema schema = { "postgres", columns, COUNT(columns), COUNT(columns) };

/* Fills a table of 45 characters, which is too narrow for all states. */
static void check_titles(uint64_t in_transaction_ns, const char *expected)
{
    static const struct frame_style style = {
        .for_text = true, .width = 45, .is_single = true, .percent_of = PERCENT_OF_ROW
    };
    static const struct frame_facts facts = { "postgres:db", "bpf", "sessions", NULL, "" };
    const uint64_t values[] = { 100, 100, 300, 300, 200 - in_transaction_ns, in_transaction_ns };
    const struct selection selection = { .order = 0 };
    char titles[200] = "";
    struct frame_table table;
    struct frame frame;

    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    assert_non_null(frame_add(&frame));
    frame.entities[0].count = 1;
    frame.elapsed_ns[0] = 1000;
    memcpy(frame_values(&frame, 0), values, sizeof values);
    assert_int_equal(frame_table_init(&table, &schema), CAMP_OK);
    assert_int_equal(selection_pick(&table.selected, &frame, &selection), CAMP_OK);
    assert_int_equal(frame_table_fill(&table, NULL, "now", &selection, &style, &facts), CAMP_OK);
    for (size_t i = 0; i < table.columns.field_count; i++) {
        strcat(titles, table.columns.fields[i].title);
        strcat(titles, " ");
    }
    assert_string_equal(titles, expected);
    frame_table_release(&table);
    frame_release(&frame);
}

static bool is_no_run_queue(void *context, const struct frame *rows, size_t row, size_t column)
{
    (void)context;
    (void)row;
    return rows->schema->columns[column].class != CLASS_READY;
}

static void a_state_that_is_unknown_of_a_row_is_a_dash(void **state)
{
    static const struct frame_style style = {
        .for_text = true, .width = 120, .percent_of = PERCENT_OF_ROW, .is_known = is_no_run_queue
    };
    static const struct frame_facts facts = { "postgres:db", "bpf", "sessions", NULL, "" };
    const struct selection selection = { .order = 0 };
    struct frame_table table;
    struct frame frame;

    (void)state;
    frame_init(&frame, &schema);
    frame.end_ns = 1000;
    assert_non_null(frame_add(&frame));
    frame.elapsed_ns[0] = frame_values(&frame, 0)[0] = 1000;
    assert_int_equal(frame_table_init(&table, &schema), CAMP_OK);
    assert_int_equal(selection_pick(&table.selected, &frame, &selection), CAMP_OK);
    assert_int_equal(frame_table_fill(&table, NULL, "now", &selection, &style, &facts), CAMP_OK);
    assert_string_equal(table.columns.fields[2].title, "run queue%");
    assert_int_not_equal(table.cells[1].kind, CELL_UNKNOWN);
    assert_int_equal(table.cells[2].kind, CELL_UNKNOWN);
    frame_table_release(&table);
    frame_release(&frame);
}

static void time_in_a_transaction_keeps_its_column_although_it_is_idle(void **state)
{
    (void)state;
    check_titles(10, "name CPU% runq% in.tran% other% un% ");
}

static void a_transaction_without_time_has_no_column_on_a_narrow_terminal(void **state)
{
    (void)state;
    check_titles(0, "name CPU% runq% other% un% ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_that_is_unknown_of_a_row_is_a_dash),
        cmocka_unit_test(time_in_a_transaction_keeps_its_column_although_it_is_idle),
        cmocka_unit_test(a_transaction_without_time_has_no_column_on_a_narrow_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
