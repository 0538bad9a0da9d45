/* The CPUs shown above the rows of a frame: a line for each CPU, or for the busiest CPUs. */
#include "views/frame_cpus.h"

#include "sources/source.h"

#include "../tree.h"

static void check_percent(int64_t part, uint64_t whole, const char *expected)
{
    char buffer[PERCENT_SIZE], text[32];
    const struct cell cell = percent_cell(part, whole, buffer);

    if (cell.kind == CELL_TEXT)
        snprintf(text, sizeof text, "%s", cell.text);
    else if (cell.kind == CELL_REAL)
        snprintf(text, sizeof text, "%.1f", cell.real);
    else if (cell.kind == CELL_INTEGER)
        snprintf(text, sizeof text, "%d", (int)cell.integer);
    else
        snprintf(text, sizeof text, "-");
    assert_string_equal(text, expected);
}

static void a_positive_percentage_takes_at_most_four_characters(void **state)
{
    (void)state;
    check_percent(0, 1000000, "0.0");
    check_percent(3000, 1000000, "0.3");
    check_percent(999400, 1000000, "99.9");
    check_percent(999600, 1000000, "100");
    check_percent(99994000, 1000000, "9999");
    check_percent(100000000, 1000000, "10k");
    check_percent(9990000000, 1000000, "999k");
    check_percent(-500000, 1000000, "-50.0");
    check_percent(5, 0, "-");
}

/* Makes the total and then the CPUs. The last CPU is the busiest. */
static void make_cpus(struct frame *frame, const struct schema *cpus, size_t count)
{
    frame_init(frame, cpus);
    for (size_t i = 0; i <= count; i++) {
        struct entity *entity = frame_add(frame);

        assert_non_null(entity);
        entity->id = i == 0 ? CAMP_CPU_TOTAL : (int64_t)i - 1;
        entity->count = i == 0 ? (uint32_t)count : 1;
        frame->elapsed_ns[i] = i == 0 ? 1000 * count : 1000;
        frame_values(frame, i)[CPUS_STATES_USER] = i == 0 ? 1000 : i;
        frame_values(frame, i)[CPUS_STATES_IDLE] =
            frame->elapsed_ns[i] - frame_values(frame, i)[CPUS_STATES_USER];
        frame_values(frame, i)[CPUS_STATES_STEAL] = frame->elapsed_ns[i] / 4;
    }
}

static void of_many_cpus_the_total_and_the_busiest_are_shown(void **state)
{
    static const char *const titles[] = { "cpu",   "usr%", "sys%",  "irq%",
                                          "soft%", "iow%", "idle%", "stl%" };
    struct frame_cpus shown = { 0 };
    struct frame frame;
    struct table table;

    (void)state;
    make_cpus(&frame, &cpus_states_schema, 4);
    assert_int_equal(frame_cpus_fill(&shown, &frame, true, &table), CAMP_OK);
    assert_int_equal(table.row_count, 4);
    assert_int_equal(table.field_count, COUNT(titles));
    for (size_t i = 0; i < COUNT(titles); i++)
        assert_string_equal(table.fields[i].title, titles[i]);
    assert_int_equal(table.cells[0].integer, 0); /* the CPUs are sorted by number */
    assert_true(table.cells[1].real > 0.09 && table.cells[1].real < 0.11);
    assert_true(table.cells[6].real > 99.89 && table.cells[6].real < 99.91);
    assert_true(table.cells[7].real == 25);
    frame_release(&frame);
    make_cpus(&frame, &cpus_states_schema, 64);
    assert_int_equal(frame_cpus_fill(&shown, &frame, true, &table), CAMP_OK);
    assert_int_equal(table.row_count, 4);
    assert_string_equal(table.cells[0].text, "all 64");
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(table.cells[i * table.field_count].integer, 64 - i);
    assert_int_equal(frame_cpus_fill(&shown, &frame, false, &table), CAMP_OK);
    assert_int_equal(table.row_count, 64);
    assert_int_equal(table.cells[63 * table.field_count].integer, 63);
    assert_string_equal(table.fields[0].name, "cpu");
    frame_release(&frame);
    frame_cpus_release(&shown);
    assert_int_equal(frame_cpus_fill(&shown, NULL, false, &table), CAMP_OK);
    assert_int_equal(table.row_count, 0);
}

static void a_column_that_the_session_does_not_know_has_no_numbers(void **state)
{
    struct column columns[CPUS_STATES_COLUMN_COUNT];
    struct schema schema = cpus_states_schema;
    struct frame_cpus shown = { 0 };
    struct frame frame;
    struct table table;

    (void)state;
    memcpy(columns, schema.columns, sizeof columns);
    columns[CPUS_STATES_SYSTEM].provenance = CAMP_UNKNOWN;
    schema.columns = columns;
    make_cpus(&frame, &schema, 2);
    for (int for_text = 0; for_text < 2; for_text++) {
        const size_t user = for_text ? 1 : 2;

        assert_int_equal(frame_cpus_fill(&shown, &frame, for_text, &table), CAMP_OK);
        assert_int_not_equal(table.cells[user].kind, CELL_UNKNOWN);
        assert_int_equal(table.cells[user + 1].kind, CELL_UNKNOWN);
    }
    frame_release(&frame);
    frame_cpus_release(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_positive_percentage_takes_at_most_four_characters),
        cmocka_unit_test(of_many_cpus_the_total_and_the_busiest_are_shown),
        cmocka_unit_test(a_column_that_the_session_does_not_know_has_no_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
