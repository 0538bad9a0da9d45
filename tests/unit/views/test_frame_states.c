/* Which columns of states a table of threads has, on terminals of several widths and in a pipe. */
#include "views/frame_table.h"

#include "sources/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct frame_facts facts = { "threads", "bpf", "threads", NULL, "" };

/* A process that is mostly asleep, and has more time in locks than on CPUs. */
static void fill_threads(struct frame *frame, uint64_t throttled_ns)
{
    uint64_t *values;

    frame_init(frame, &threads_schema);
    frame->end_ns = 1000;
    assert_non_null(frame_add(frame));
    frame->entities[0] = (struct entity){ .id = 7, .pid = 7, .count = 1, .name = "make" };
    frame->elapsed_ns[0] = 1000;
    values = frame_values(frame, 0);
    values[CAMP_STATE_USER] = 10;
    values[CAMP_STATE_SYSTEM] = 90;
    values[CAMP_STATE_LOCK] = 200;
    values[CAMP_STATE_TIMER] = 700 - throttled_ns;
    values[CAMP_STATE_THROTTLED] = throttled_ns;
}

static void check_titles(size_t width, bool is_uncut, uint64_t throttled_ns, const char *expected)
{
    const struct selection selection = { .order = 0 };
    const struct frame_style style = {
        .for_text = true,
        .width = width,
        .is_uncut = is_uncut,
        .of_threads = true,
        .numbered = true,
        .is_single = true,
    };
    size_t used = 0, first = 0;
    char titles[400] = "";
    struct frame_table table;
    struct frame frame;

    fill_threads(&frame, throttled_ns);
    assert_int_equal(frame_table_init(&table, frame.schema), CAMP_OK);
    assert_int_equal(selection_pick(&table.selected, &frame, &selection), CAMP_OK);
    assert_int_equal(frame_table_fill(&table, NULL, "now", &selection, &style, &facts), CAMP_OK);
    for (size_t i = 0; i < table.columns.field_count; i++) {
        const struct field *field = &table.columns.fields[i];

        used += 2 + (size_t)abs(field->width);
        first = strcmp(field->title, "usr%") == 0 ? i : first;
        snprintf(titles + strlen(titles), sizeof titles - strlen(titles), "%s ", field->title);
    }
    assert_string_equal(titles, expected);
    if (!is_uncut && width >= 40) {
        double sum = 0; /* the row adds up */

        assert_true(used - 2 <= width);
        for (size_t i = first; i + 1 < table.columns.field_count; i++) {
            const struct cell *cell = &table.tables[3].cells[i];

            sum += cell->kind == CELL_REAL ? cell->real : (double)cell->integer;
        }
        assert_float_equal(sum, 100, 1e-9);
    }
    frame_table_release(&table);
    frame_release(&frame);
}

static void cpu_time_and_the_run_queue_are_the_last_columns_to_be_dropped(void **state)
{
    (void)state;
    check_titles(100, false, 0, "id name thr usr% sys% runq% thrt% flt% dsk% lck% slp% un% ");
    check_titles(80, false, 0, "id name thr usr% sys% runq% flt% dsk% lck% slp% un% ");
    check_titles(70, false, 0, "id name thr usr% sys% runq% lck% slp% un% ");
    check_titles(63, false, 0, "id name thr usr% sys% runq% other% un% ");
    check_titles(60, false, 0, "id name thr usr% sys% runq% other% un% ");
    check_titles(50, false, 0, "id name usr% sys% runq% other% un% ");
    check_titles(40, false, 0, "id name usr% other% un% ");
    check_titles(20, false, 0, "id name usr% other% un% ");
}

static void the_column_of_throttled_time_is_kept_if_there_is_throttled_time(void **state)
{
    (void)state;
    check_titles(80, false, 1, "id name thr usr% sys% runq% thrt% flt% lck% slp% un% ");
}

static void output_to_a_pipe_has_all_columns(void **state)
{
    (void)state;
    check_titles(80, true, 0, "id name thr usr% sys% runq% thrt% flt% dsk% lck% slp% un% ");
    check_titles(40, true, 0, "id name thr usr% sys% runq% thrt% flt% dsk% lck% slp% un% ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_and_the_run_queue_are_the_last_columns_to_be_dropped),
        cmocka_unit_test(the_column_of_throttled_time_is_kept_if_there_is_throttled_time),
        cmocka_unit_test(output_to_a_pipe_has_all_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
