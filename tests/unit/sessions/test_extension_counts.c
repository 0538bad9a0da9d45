/* Answers of pg_stat_statements: honest rows, and rows that no PostgreSQL sends. */
#include "sources/sessions/postgres/statements/extension_counts.h"

#include "../tree.h"

#include <endian.h>
#include <math.h>

enum { IS_HEAD, OWNER, STATEMENT, CALLS, ROWS, PLAN_TIME, EXEC_TIME, BEGAN, COLUMNS };
enum { SCHEMA, OWN, PLANNING, TOPLEVEL, SINCE, INFO, TRACKS_PLANNING, LOADED, MAY_USE, FOUND };

static struct postgres_answer answer;
static struct statement_counts counts;

static int end(void **state)
{
    (void)state;
    postgres_answer_release(&answer);
    statement_counts_release(&counts);
    return 0;
}

struct row {
    uint64_t numbers[COLUMNS];
    struct postgres_field fields[POSTGRES_COLUMNS_MOST];
};

static uint64_t float8(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static struct postgres_field *make_row(struct row *row, bool is_head, int64_t statement,
                                       uint64_t calls, double execution_ms)
{
    const uint64_t numbers[COLUMNS] = { 0,     1,           (uint64_t)statement,  calls,
                                        calls, float8(0.5), float8(execution_ms), 0 };

    *row = (struct row){ { 0 }, { { 0 } } };
    for (size_t i = 0; i < COLUMNS; i++) {
        row->numbers[i] = htobe64(numbers[i]);
        row->fields[i] = (struct postgres_field){ (const char *)&row->numbers[i], 8 };
    }
    row->fields[IS_HEAD] = (struct postgres_field){ is_head ? "\1" : "\0", 1 };
    return row->fields;
}

static void add_row(const struct postgres_field *fields)
{
    assert_int_equal(postgres_answer_add(&answer, fields, NULL), CAMP_OK);
}

/* Leaves bytes on the stack, which the next function finds in its variables that it does not set.
 */
static __attribute__((noinline)) void fill_stack(void)
{
    volatile unsigned char bytes[8192];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xa5;
}

static int read_rows(const struct postgres_field *changed, struct extension_reading *reading,
                     struct camp_error *error)
{
    struct row head;

    postgres_answer_begin(&answer, COLUMNS);
    add_row(make_row(&head, true, -77, 3, 0));
    if (changed != NULL)
        add_row(changed);
    statement_counts_start(&counts);
    fill_stack();
    return extension_counts_read(&counts, reading, &answer, error);
}

static void a_row_is_read_as_an_entry(void **state)
{
    struct extension_reading reading;
    struct row row;

    (void)state;
    assert_int_equal(read_rows(make_row(&row, false, -5, 12, 1.5), &reading, NULL), CAMP_OK);
    assert_int_equal(reading.own_query_id, -77);
    assert_int_equal(reading.evictions, 3);
    assert_int_equal(reading.hidden, 0);
    assert_false(reading.is_too_large);
    assert_int_equal(counts.now_count, 1);
    assert_int_equal((int64_t)counts.now[0].statement.low, -5);
    assert_int_equal(counts.now[0].owner, 1);
    assert_int_equal(counts.now[0].calls, 12);
    assert_int_equal(counts.now[0].rows, 12);
    assert_int_equal(counts.now[0].planning_ns, 500000);
    assert_int_equal(counts.now[0].execution_ns, 1500000);
    assert_int_equal(counts.now[0].lock_ns, 0);
}

static void an_entry_without_an_id_is_hidden(void **state)
{
    struct extension_reading reading;
    struct row row;

    (void)state;
    make_row(&row, false, 0, 12, 1.5);
    row.fields[STATEMENT] = (struct postgres_field){ NULL, 0 };
    assert_int_equal(read_rows(row.fields, &reading, NULL), CAMP_OK);
    assert_int_equal(reading.hidden, 1);
    assert_int_equal(counts.now_count, 0);
}

static void a_value_that_no_entry_has_is_refused(void **state)
{
    static const struct {
        int column;
        struct postgres_field value;
    } cases[] = {
        { IS_HEAD, { NULL, 0 } },
        { IS_HEAD, { "\1", 1 } }, /* a second head */
        { OWNER, { NULL, 0 } },
        { STATEMENT, { "\0\0\0\1", 4 } },
        { CALLS, { NULL, 0 } },
        { CALLS, { "\377\377\377\377\377\377\377\377", 8 } }, /* -1 */
        { ROWS, { "\200\0\0\0\0\0\0\0", 8 } },
        { PLAN_TIME, { "\277\360\0\0\0\0\0\0", 8 } }, /* -1.0 */
        { EXEC_TIME, { "\177\370\0\0\0\0\0\0", 8 } }, /* not a number */
        { EXEC_TIME, { "\177\360\0\0\0\0\0\0", 8 } }, /* infinity */
        { EXEC_TIME, { "\0", 1 } },
        { BEGAN, { NULL, 0 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct camp_error error = { 0 };
        struct extension_reading reading;
        struct row row;

        make_row(&row, false, 5, 1, 1);
        row.fields[cases[i].column] = cases[i].value;
        assert_int_equal(read_rows(row.fields, &reading, &error), CAMP_E_FORMAT);
        assert_non_null(strstr(error.message, "pg_stat_statements has an impossible value"));
    }
}

static void an_answer_without_a_head_is_refused(void **state)
{
    struct extension_reading reading;
    struct row row;

    (void)state;
    postgres_answer_begin(&answer, COLUMNS);
    add_row(make_row(&row, false, 5, 1, 1));
    assert_int_equal(extension_counts_read(&counts, &reading, &answer, NULL), CAMP_E_FORMAT);
}

/* Reads an answer about the extension, whose flags are those set in `flags`. */
static int find(struct extension *extension, const char *schema, unsigned flags)
{
    struct postgres_field fields[POSTGRES_COLUMNS_MOST] = { { schema, strlen(schema) },
                                                            { NULL, 0 } };

    for (int i = PLANNING; i < FOUND; i++)
        fields[i] = (struct postgres_field){ (flags & 1u << i) != 0 ? "\1" : "\0", 1 };
    postgres_answer_begin(&answer, FOUND);
    add_row(fields);
    return extension_read(extension, &answer, NULL);
}

static void the_extension_is_asked_only_if_it_would_answer(void **state)
{
    const unsigned all = ~0u;
    struct extension extension;

    (void)state;
    postgres_answer_begin(&answer, FOUND);
    assert_int_equal(extension_read(&extension, &answer, NULL), CAMP_OK);
    assert_non_null(strstr(extension_why_not(&extension), "create extension"));
    assert_int_equal(find(&extension, "public", all & ~(1u << LOADED)), CAMP_OK);
    assert_non_null(strstr(extension_why_not(&extension), "shared_preload_libraries"));
    assert_int_equal(find(&extension, "public", all & ~(1u << MAY_USE)), CAMP_OK);
    assert_non_null(strstr(extension_why_not(&extension), "grant"));
    assert_int_equal(find(&extension, "public", all), CAMP_OK);
    assert_null(extension_why_not(&extension));
    assert_true(extension.counts_planning);
}

static void the_statement_has_the_columns_of_the_version(void **state)
{
    char text[EXTENSION_QUERY_SIZE];
    struct extension extension;

    (void)state;
    assert_int_equal(find(&extension, "\"a \"\"b\"", 1u << LOADED | 1u << MAY_USE), CAMP_OK);
    extension_counts_query(&extension, text);
    assert_non_null(strstr(text, "s.total_time"));
    assert_null(strstr(text, "plan_time"));
    assert_null(strstr(text, "toplevel"));
    assert_null(strstr(text, "dealloc"));
    assert_non_null(strstr(text, "from \"a \"\"b\".pg_stat_statements(false)"));
    assert_int_equal(find(&extension, "public", ~0u), CAMP_OK);
    extension_counts_query(&extension, text);
    assert_non_null(strstr(text, "s.total_plan_time, s.total_exec_time"));
    assert_non_null(strstr(text, "where s.toplevel"));
    assert_non_null(strstr(text, "stats_since"));
    assert_non_null(strstr(text, "i.dealloc"));
}

static void the_longest_schema_fits_into_the_statements(void **state)
{
    char text[EXTENSION_QUERY_SIZE], longest[EXTENSION_SCHEMA_SIZE + 1];
    struct extension extension;

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(find(&extension, longest, ~0u), CAMP_E_FORMAT);
    assert_int_equal(find(&extension, "", ~0u), CAMP_E_FORMAT);
    longest[sizeof longest - 2] = '\0';
    assert_int_equal(find(&extension, longest, ~0u), CAMP_OK);
    extension_counts_query(&extension, text);
    assert_string_equal(text + strlen(text) - 2, "0)");
    extension_texts_query(&extension, "{1}", text);
    assert_non_null(strstr(text, "order by 1"));
}

static void texts_are_read_with_their_ids(void **state)
{
    const uint64_t id = htobe64((uint64_t)-9);
    const struct postgres_field fields[POSTGRES_COLUMNS_MOST] = { { (const char *)&id, 8 },
                                                                  { "select $1", 9 },
                                                                  { (const char *)&id, 8 } };
    const struct postgres_field unknown[POSTGRES_COLUMNS_MOST] = { { (const char *)&id, 8 } };
    const struct postgres_field wrong[POSTGRES_COLUMNS_MOST] = { { "\0\0", 2 } };
    struct extension_text text;
    bool has_row;

    (void)state;
    postgres_answer_begin(&answer, 3);
    add_row(fields);
    add_row(unknown);
    add_row(wrong);
    assert_int_equal(extension_texts_next(&answer, &text, &has_row, NULL), CAMP_OK);
    assert_true(has_row);
    assert_int_equal(text.id, -9);
    assert_int_equal(text.own_query_id, -9);
    assert_string_equal(text.sql, "select $1");
    assert_int_equal(extension_texts_next(&answer, &text, &has_row, NULL), CAMP_OK);
    assert_string_equal(text.sql, "");
    assert_int_equal(extension_texts_next(&answer, &text, &has_row, NULL), CAMP_E_FORMAT);
    assert_int_equal(extension_texts_next(&answer, &text, &has_row, NULL), CAMP_OK);
    assert_false(has_row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_row_is_read_as_an_entry, end),
        cmocka_unit_test_teardown(an_entry_without_an_id_is_hidden, end),
        cmocka_unit_test_teardown(a_value_that_no_entry_has_is_refused, end),
        cmocka_unit_test_teardown(an_answer_without_a_head_is_refused, end),
        cmocka_unit_test_teardown(the_extension_is_asked_only_if_it_would_answer, end),
        cmocka_unit_test_teardown(the_statement_has_the_columns_of_the_version, end),
        cmocka_unit_test_teardown(the_longest_schema_fits_into_the_statements, end),
        cmocka_unit_test_teardown(texts_are_read_with_their_ids, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
