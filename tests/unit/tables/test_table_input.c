/* Units that are given or guessed, and input that cannot be read. */
#include "opened_table.h"

#include "sources/tables/table_rows.h"

#include <inttypes.h>

static void assert_unit(const char *rows, const char *unit, uint64_t expected_ns, const char *note)
{
    char text[256];
    struct table table;

    snprintf(text, sizeof text, "time,name,cpu,idle\n%s", rows);
    table = opened_text(text, unit);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(frame_values(table.frame, 0)[0], expected_ns);
    assert_string_equal(table.facts.note, note);
    source_close(table.source);
}

static void a_missing_unit_is_guessed_and_reported(void **state)
{
    (void)state;
    assert_unit("1000000001,a,400,598\n1000000002,a,1,997\n", NULL, 400 * NS_PER_MS,
                "values taken as ms: the median row adds up to 998 ms of 1 s; --unit says "
                "otherwise");
    assert_unit("1000000000,a,40,59\n1000000010,a,1,97\n", NULL, 4 * (uint64_t)NS_PER_S,
                "values taken as percent: the median row adds up to 98 percent of 10 s; --unit "
                "says otherwise");
    assert_unit("1000000000,a,0.25,0.7\n1000000010,a,0.2,0.8\n", NULL, 25 * (uint64_t)NS_PER_S / 10,
                "values taken as share: the median row adds up to 0.95 share of 10 s; --unit says "
                "otherwise");
    assert_unit("1000000000,a,400000,598000\n1000000001,a,1,998000\n", NULL, 400 * NS_PER_MS,
                "values taken as us: the median row adds up to 9.98e+05 us of 1 s; --unit says "
                "otherwise");
    assert_unit("1000000000,a,4,50\n1000000060,a,4,55\n", NULL, 4 * (uint64_t)NS_PER_S,
                "values taken as s: the median row adds up to 54 s of 60 s; --unit says otherwise");
    assert_unit("1000000000,a,5,999999995\n1000000001,a,1,998000000\n", NULL, 5,
                "values taken as ns: the median row adds up to 9.98e+08 ns of 1 s; --unit says "
                "otherwise");
}

static void values_are_read_in_the_unit_given_by_the_option_unit(void **state)
{
    const struct from from = { .text = stored_table("sessions3"), .unit = "days", .stop = &never };
    struct camp_error error = { 0 };
    struct table table;

    (void)state;
    assert_unit("1000000001,a,400,598\n", "us", 400 * NS_PER_US, "");
    assert_unit("1000000001,a,40,60\n", "percent", 400 * NS_PER_MS, "");
    assert_int_equal(from_open(&from, &table.source, &table.facts, &error), CAMP_E_INVALID);
    assert_string_equal(error.message, "there is no unit 'days'; the units are ns, us, ms, s, "
                                       "percent and share");
}

static void the_unit_in_a_column_name_applies_to_the_values_of_that_column(void **state)
{
    struct table table = opened_text("time,name,a_us,b_ms,c_s,d_pct,e_share,f_ns,rest\n"
                                     "1000000000,x,1000,1,0.001,0.1,0.001,1000000,994\n"
                                     "1000000001,x,1000,1,0.001,0.1,0.001,1000000,994\n",
                                     NULL);

    (void)state;
    assert_int_equal(next(&table), CAMP_OK);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(value_of(table.frame, "x", i), NS_PER_MS);
    assert_int_equal(unaccounted_of(table.frame, "x"), 0);
    source_close(table.source);
}

static void no_unit_is_guessed_if_all_values_are_0(void **state)
{
    (void)state;
    assert_unit("1000000001,a,0,0\n", NULL, 0, "");
}

static void assert_skipped(const char *name, const char *note, const uint64_t *partial,
                           size_t frames)
{
    struct table table = opened_stored(name);

    assert_string_equal(table.facts.note, note);
    for (size_t i = 0; i < frames; i++) {
        assert_int_equal(next(&table), CAMP_OK);
        assert_int_equal(table.frame->losses.partial, partial[i]);
    }
    assert_at_end(&table);
}

#define ASSERT_SKIPPED(name, note, ...)                                                            \
    assert_skipped(name, note, (const uint64_t[]){ __VA_ARGS__ },                                  \
                   COUNT(((const uint64_t[]){ __VA_ARGS__ })))

static void unreadable_rows_are_counted_in_a_note(void **state)
{
    (void)state;
    ASSERT_SKIPPED("text-number", "line 3: cpu_ms: 'abc' is no number; 2 of 4 rows skipped", 0, 1,
                   1);
    ASSERT_SKIPPED("not-finite", "line 2: cpu_ms: 'NaN' is no finite number; 2 of 3 rows skipped",
                   1, 1, 0);
    ASSERT_SKIPPED("negative", "line 3: cpu_ms: '-5' is negative; 1 of 3 rows skipped", 0, 1, 0);
    ASSERT_SKIPPED("short-row", "line 3: 3 fields, the header has 4; 1 of 3 rows skipped", 1, 0);
    ASSERT_SKIPPED("open-quote", "line 2: a quote is not closed; 1 of 2 rows skipped", 1);
    ASSERT_SKIPPED("duplicate",
                   "line 3: its time and entity have a row already; 1 of 3 rows skipped", 1, 0);
}

static void the_first_of_several_rows_with_the_same_time_and_entity_is_kept(void **state)
{
    struct table table = opened_stored("duplicate");

    (void)state;
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 1);
    assert_int_equal(value_of(table.frame, "a", 0), 400 * NS_PER_MS);
    source_close(table.source);
}

static void a_row_without_a_time_is_counted_in_the_interval_of_the_row_before(void **state)
{
    struct table table = opened_text("time,session,cpu_ms\n?,a,1\n1000000001,a,1000\n?,b,1\n"
                                     "1000000002,a,1000\n1000000002,b,1000\n",
                                     NULL);

    (void)state;
    assert_int_equal(table.facts.frames, 2);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->losses.partial, 2);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->losses.partial, 0);
    assert_at_end(&table);
}

/* The interval of the row after the invalid row has the usual length. */
static void an_invalid_row_ends_an_interval_as_a_valid_row_does(void **state)
{
    struct table table =
        opened_text("time,session,cpu_ms\n1,a,1000\n2,a,x\n3,a,1000\n4,a,1000\n", NULL);

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(elapsed_of(table.frame, "a"), S);
    source_close(table.source);
}

static void a_table_with_a_byte_order_mark_or_quotes_or_trailing_commas_is_read(void **state)
{
    struct table table = opened_stored("bom-crlf");

    (void)state;
    assert_string_equal(table.facts.note, "");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(value_of(table.frame, "a", 1), 600 * NS_PER_MS);
    source_close(table.source);
    table = opened_stored("quotes");
    assert_string_equal(table.facts.note, "");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(value_of(table.frame, "a, \"the first\"", 0), 400 * NS_PER_MS);
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(value_of(table.frame, "two\nlines", 1), 999 * NS_PER_MS);
    source_close(table.source);
    table = opened_text("time,session,cpu_ms\n1000000000,a,400,,\n1000000001,a,500,\n", NULL);
    assert_string_equal(table.facts.note, "");
    source_close(table.source);
}

static void a_value_too_large_for_a_time_is_skipped(void **state)
{
    struct table table = opened_text("time,session,cpu_ms\n1,a,1e300\n1,b,1000\n2,a,1000\n", NULL);

    (void)state;
    assert_string_equal(table.facts.note, "line 2: a number is too large or too small for a time; "
                                          "1 of 3 rows skipped; time counts seconds from 0");
    assert_int_equal(next(&table), CAMP_OK);
    assert_int_equal(table.frame->entity_count, 1);
    assert_int_equal(table.frame->losses.partial, 1);
    source_close(table.source);
}

static void ignored_columns_are_named_in_a_note(void **state)
{
    struct table table = opened_text("time,sid,program,cpu_ms,module,calls_count\n"
                                     "1000000000,7,sqlplus,1000,x,5\n",
                                     NULL);

    (void)state;
    assert_string_equal(table.facts.note, "program and 2 more columns are ignored");
    source_close(table.source);
}

static void assert_refused(const char *name, const char *message)
{
    const struct from from = { .text = stored_table(name), .stop = &never };
    struct camp_error error = { 0 };
    struct table table;

    assert_int_equal(from_open(&from, &table.source, &table.facts, &error), CAMP_E_FORMAT);
    assert_string_equal(error.message, message);
}

static void the_error_about_a_file_that_is_not_a_table_says_what_is_missing(void **state)
{
    (void)state;
    assert_refused("empty", "empty.csv is empty; a table has a header and columns of time, entity "
                            "and numbers");
    assert_refused("header-only", "header-only.csv has no rows after its header");
    assert_refused("no-header", "no-header.csv: the first row is not a header; a header names "
                                "the columns: time, entity and numbers");
    assert_refused("decimal-comma", "decimal-comma.csv, column cpu_ms: '500,5' has a comma: write "
                                    "numbers with a point");
    assert_refused("no-numbers",
                   "no-numbers.csv has no column of numbers; a table has a header and "
                   "columns of time, entity and numbers");
}

static void a_table_without_any_valid_row_is_refused(void **state)
{
    char path[64];
    const struct from from = { .text = path, .stop = &never };
    struct camp_error error = { 0 };
    struct table table;
    const char *text = "session,cpu_ms\na,5\nb,6\n";

    (void)state;
    write_table(path, text, strlen(text));
    assert_int_equal(from_open(&from, &table.source, &table.facts, &error), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, " has no row with a time, an entity and numbers; line 2: "
                                          "'a' is no time, such as 2026-11-22 10:00:00"));
    unlink(path);
}

/* Rows with ever new names, without an end. */
static int next_row(struct rows *rows, struct row *ret, struct camp_error *error)
{
    static struct field header[] = { { "time", 4 }, { "name", 4 }, { "busy_ms", 7 } };
    static struct field fields[] = { { "1000000000", 10 }, { NULL, 0 }, { "1", 1 } };
    static uint64_t number;
    static char name[24];

    (void)rows;
    (void)error;
    snprintf(name, sizeof name, "%20" PRIu64, number);
    fields[1] = (struct field){ name, strlen(name) };
    *ret = (struct row){ .number = number, .count = 3, .fields = number == 0 ? header : fields };
    number++;
    return CAMP_OK;
}

static void rows_without_end_are_refused_at_the_limit(void **state)
{
    struct rows input = { .next = next_row, .word = "row", .bytes_most = 100000 };
    struct table_columns columns = { 0 };
    struct table_rows rows = { 0 };
    struct camp_error error;

    (void)state;
    assert_int_equal(table_rows_read(&rows, &columns, &input, "endless", &error), CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "more than camp keeps"));
    assert_in_range(rows.count, 500, 2000);
    table_rows_release(&rows);
    table_columns_release(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_unit_is_guessed_and_reported),
        cmocka_unit_test(values_are_read_in_the_unit_given_by_the_option_unit),
        cmocka_unit_test(the_unit_in_a_column_name_applies_to_the_values_of_that_column),
        cmocka_unit_test(no_unit_is_guessed_if_all_values_are_0),
        cmocka_unit_test(unreadable_rows_are_counted_in_a_note),
        cmocka_unit_test(the_first_of_several_rows_with_the_same_time_and_entity_is_kept),
        cmocka_unit_test(a_row_without_a_time_is_counted_in_the_interval_of_the_row_before),
        cmocka_unit_test(an_invalid_row_ends_an_interval_as_a_valid_row_does),
        cmocka_unit_test(a_table_with_a_byte_order_mark_or_quotes_or_trailing_commas_is_read),
        cmocka_unit_test(a_value_too_large_for_a_time_is_skipped),
        cmocka_unit_test(ignored_columns_are_named_in_a_note),
        cmocka_unit_test(the_error_about_a_file_that_is_not_a_table_says_what_is_missing),
        cmocka_unit_test(a_table_without_any_valid_row_is_refused),
        cmocka_unit_test(rows_without_end_are_refused_at_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
