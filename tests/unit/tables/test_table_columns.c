#include "sources/tables/table_columns.h"

#include "../tree.h"

#define MOST 16

/* Divides a text such as "a,b,c" at its commas. */
static struct row row_of(struct field fields[MOST], const char *text)
{
    struct row row = { .fields = fields };

    for (; row.count < MOST; text++) {
        fields[row.count++] = (struct field){ text, strcspn(text, ",") };
        text += strcspn(text, ",");
        if (*text == '\0')
            break;
    }
    return row;
}

static struct table_columns choose(const char *header, const char *const *lines, size_t count)
{
    struct table_columns columns = { 0 };
    struct field fields[MOST + 1][MOST];
    const struct row head = row_of(fields[MOST], header);
    struct row rows[MOST];

    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(fields[i], lines[i]);
    assert_int_equal(table_columns_choose(&columns, "x", &head, rows, count, NULL), CAMP_OK);
    return columns;
}

/* Compares the uses of the columns with a letter for each column: t is time, e entity, l elapsed, s
 * state, - ignored. */
static void assert_uses(const char *header, const char *const *lines, size_t count,
                        const char *expected)
{
    struct table_columns columns = choose(header, lines, count);
    char uses[MOST + 1] = "";

    for (size_t i = 0; i < columns.count; i++)
        uses[i] = "-tels"[columns.columns[i].use];
    assert_string_equal(uses, expected);
    table_columns_release(&columns);
}

#define ASSERT_USES(header, expected, ...)                                                         \
    assert_uses(header, (const char *const[]){ __VA_ARGS__ },                                      \
                COUNT(((const char *const[]){ __VA_ARGS__ })), expected)

static void the_time_column_is_found_by_name_or_is_the_first_column(void **state)
{
    (void)state;
    ASSERT_USES("sid,TIME,CPU,IO", "etss", "7,1,2,3", "8,1,2,3");
    ASSERT_USES("when,sid,CPU,IO", "tess", "1,7,2,3", "1,8,2,3");
    ASSERT_USES("Snap ID,timestamp,sid,CPU", "-tes", "1,1,7,2", "1,1,8,2");
    ASSERT_USES("sid,CPU,time_ms", "est", "7,2,1000", "7,2,2000");
}

static void the_entity_column_is_found_by_name_or_is_the_first_text_column(void **state)
{
    (void)state;
    ASSERT_USES("time,SID,CPU", "tes", "1,7,2", "1,8,2");
    ASSERT_USES("time,who,CPU,what", "tes-", "1,a,2,x", "1,b,2,y");
    ASSERT_USES("time,host,pid,name,CPU", "teees", "1,a,7,sh,2", "1,b,7,sh,2");
    ASSERT_USES("time,CPU,IO", "tss", "1,2,3", "2,2,3");
}

static void a_cpu_column_is_part_of_the_entity_if_only_it_distinguishes_the_rows(void **state)
{
    (void)state;
    ASSERT_USES("time,CPU,IO,IDLE", "tsss", "1,20,3,4", "2,21,3,4", "3,20,4,4");
    ASSERT_USES("time,cpu,user,idle", "tess", "1,0,3,4", "1,1,3,4", "2,0,3,4", "2,1,3,4");
    ASSERT_USES("time,cpu,user,idle", "tess", "1,all,3,4", "1,0,3,4", "1,1,3,4");
    ASSERT_USES("time,host,cpu,idle", "tees", "1,a,0,4", "1,a,1,4", "1,b,0,4", "1,b,1,4");
    ASSERT_USES("time,sid,CPU,IDLE", "tess", "1,a,20,4", "1,b,21,4", "2,a,20,4", "2,b,20,4");
}

/* The repeated row does not make the column CPU a part of the entity. */
static void a_single_duplicate_row_does_not_make_a_cpu_column_part_of_the_key(void **state)
{
    (void)state;
    ASSERT_USES("time,sid,CPU,IDLE", "tess", "1,a,20,4", "1,b,21,4", "1,b,22,4", "2,a,20,4",
                "2,b,20,4");
    ASSERT_USES("time,CPU,IDLE", "tss", "1,20,4", "1,21,4", "2,20,4");
    ASSERT_USES("time,cpu_ms,idle", "tss", "1,20,4", "1,21,4", "1,22,4", "2,20,4");
}

static void columns_of_text_and_counts_and_bytes_are_ignored(void **state)
{
    (void)state;
    ASSERT_USES("time,sid,program,calls_count,read_bytes,CPU", "te---s", "1,7,sh,5,4096,2",
                "1,8,sh,5,4096,2");
    ASSERT_USES("time,sid,elapsed,wall_ms,CPU", "tel-s", "1,7,1,1000,2", "1,8,1,1000,2");
    ASSERT_USES("time,sid,elapsed_ms,CPU,note", "tels-", "1,7,1000,2,", "1,8,1000,2,");
}

static void a_column_has_the_type_of_most_of_its_fields(void **state)
{
    (void)state;
    ASSERT_USES("time,sid,CPU", "tes", "1,7,abc", "1,8,NaN", "1,9,-1", "1,10,", "2,7,x5", "2,8,7");
}

static void the_name_of_a_state_is_its_column_name_without_the_unit(void **state)
{
    const char *const lines[] = { "1,2,3,4,5,6" };
    struct table_columns columns = choose("time,DB CPU PCT,%usr,I/O (ms),io_ms,  ", lines, 1);

    (void)state;
    assert_string_equal(columns.columns[1].stem, "db_cpu");
    assert_string_equal(columns.columns[1].title, "DB CPU PCT");
    assert_int_equal(columns.columns[1].unit, UNIT_PERCENT);
    assert_string_equal(columns.columns[2].stem, "usr");
    assert_int_equal(columns.columns[2].unit, UNIT_PERCENT);
    assert_string_equal(columns.columns[3].stem, "i_o");
    assert_int_equal(columns.columns[3].unit, UNIT_MS);
    assert_string_equal(columns.columns[5].stem, "column_6");
    assert_string_equal(columns.columns[5].title, "column 6");
    assert_int_equal(columns.columns[5].unit, UNIT_NONE);
    table_columns_release(&columns);
}

static void assert_refused(const char *header, const char *line, const char *message)
{
    struct table_columns columns = { 0 };
    struct field head_fields[MOST], fields[MOST];
    const struct row head = row_of(head_fields, header), row = row_of(fields, line);
    struct camp_error error = { 0 };

    assert_int_equal(table_columns_choose(&columns, "x.csv", &head, &row, 1, &error),
                     CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, message));
    table_columns_release(&columns);
}

static void a_file_without_a_header_or_a_column_of_numbers_is_refused(void **state)
{
    (void)state;
    assert_refused("1,a,2,3", "2,a,2,3", "x.csv: the first row is not a header");
    assert_refused("2026-11-22 02:00,a,x", "2026-11-22 02:01,a,x", "is not a header");
    assert_refused("time,sid,state", "1,7,busy", "x.csv has no column of numbers");
    assert_refused("time", "1", "no column of numbers");
}

static void a_table_with_too_many_states_is_refused(void **state)
{
    enum { COLUMNS = 130 };
    struct field head_fields[COLUMNS], fields[COLUMNS];
    const struct row head = { .count = COLUMNS, .fields = head_fields };
    const struct row row = { .count = COLUMNS, .fields = fields };
    struct table_columns columns = { 0 };
    struct camp_error error = { 0 };

    (void)state;
    for (size_t i = 0; i < COLUMNS; i++) {
        head_fields[i] = (struct field){ "x", 1 };
        fields[i] = (struct field){ "1", 1 };
    }
    assert_int_equal(table_columns_choose(&columns, "x.csv", &head, &row, 1, &error),
                     CAMP_E_FORMAT);
    assert_string_equal(
        error.message,
        "x.csv has 129 columns of numbers, and camp reads at most 128: leave some out");
    table_columns_release(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_column_is_found_by_name_or_is_the_first_column),
        cmocka_unit_test(the_entity_column_is_found_by_name_or_is_the_first_text_column),
        cmocka_unit_test(a_cpu_column_is_part_of_the_entity_if_only_it_distinguishes_the_rows),
        cmocka_unit_test(a_single_duplicate_row_does_not_make_a_cpu_column_part_of_the_key),
        cmocka_unit_test(columns_of_text_and_counts_and_bytes_are_ignored),
        cmocka_unit_test(a_column_has_the_type_of_most_of_its_fields),
        cmocka_unit_test(the_name_of_a_state_is_its_column_name_without_the_unit),
        cmocka_unit_test(a_file_without_a_header_or_a_column_of_numbers_is_refused),
        cmocka_unit_test(a_table_with_too_many_states_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
