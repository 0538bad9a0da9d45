/* Divides text into rows and fields as in RFC 4180. */
#include "sources/tables/rows.h"

#include "../foreign_table.h"

/* Compares the rows of a text with `expected`. A row in `expected` is "NUMBER:", then
 * each field after a "|", then the problem in parentheses. */
static void assert_rows(const char *text, size_t length, const char *expected)
{
    const struct from from = { .stop = &never };
    char path[64], read[1024] = "";
    struct rows *rows;
    struct row row;
    size_t at = 0;

    write_table(path, text, length);
    assert_int_equal(csv_rows_open(path, &from, &rows, NULL), CAMP_OK);
    while (rows->next(rows, &row, NULL) == CAMP_OK) {
        at += (size_t)snprintf(read + at, sizeof read - at, "%d:", (int)row.number);
        for (size_t i = 0; i < row.count; i++)
            at += (size_t)snprintf(read + at, sizeof read - at, "|%.*s", (int)row.fields[i].length,
                                   row.fields[i].text);
        if (row.problem != NULL)
            at += (size_t)snprintf(read + at, sizeof read - at, "(%s)", row.problem);
        at += (size_t)snprintf(read + at, sizeof read - at, "\n");
    }
    rows->close(rows);
    unlink(path);
    assert_string_equal(read, expected);
}

#define ASSERT_ROWS(text, expected) assert_rows(text, sizeof(text) - 1, expected)

static void open_made(const char *text, size_t length, const char *message)
{
    const struct from from = { .stop = &never };
    struct camp_error error = { 0 };
    char path[64];
    struct rows *rows = NULL;
    struct row row;
    int r;

    write_table(path, text, length);
    r = csv_rows_open(path, &from, &rows, &error);
    while (r == CAMP_OK)
        r = rows->next(rows, &row, &error);
    assert_int_equal(r, CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, message));
    if (rows != NULL)
        rows->close(rows);
    unlink(path);
}

static void csv_fields_end_at_commas_and_rows_at_line_ends(void **state)
{
    (void)state;
    ASSERT_ROWS("a,b\n1,2\n", "1:|a|b\n2:|1|2\n");
    ASSERT_ROWS("a,b\n1,2", "1:|a|b\n2:|1|2\n");
    ASSERT_ROWS(",\n1,,\n", "1:||\n2:|1||\n");
    ASSERT_ROWS(" a , b \n", "1:| a | b \n");
    ASSERT_ROWS("", "");
}

static void the_header_of_a_csv_file_determines_the_separator(void **state)
{
    (void)state;
    ASSERT_ROWS("a;b\n1,5;2\n", "1:|a|b\n2:|1,5|2\n");
    ASSERT_ROWS("a\tb\n1;5\t\"2\tx\"\n", "1:|a|b\n2:|1;5|2\tx\n");
    ASSERT_ROWS("\r\n\"a,b\";\"c;d\"\n\"1\"x;2\n",
                "2:|a,b|c;d\n3:|1|2(there is text behind a closing quote)\n");
    ASSERT_ROWS("a,\"b;\nc\"\n1;2,3\n", "1:|a|b;\nc\n3:|1;2|3\n");
    /* a doubled quote does not end the field */
    ASSERT_ROWS("a;\"b\"\",c\"\n1;2\n", "1:|a|b\",c\n2:|1|2\n");
    open_made("time;a, b;c\n", 12, "line 1: the header has 1 comma, 2 semicolons and 0 tabs");
    open_made("\ntime\n1\n", 8, "line 2: the header has no comma, semicolon or tab");
}

static void the_lines_of_a_csv_file_may_end_in_crlf(void **state)
{
    (void)state;
    ASSERT_ROWS("a,b\r\n1,2\r\n", "1:|a|b\n2:|1|2\n");
    ASSERT_ROWS("\"a\",\"b\"\r\n\"1\",\"2\"\r", "1:|a|b\n2:|1|2\n");
    ASSERT_ROWS("a\rb,c\n", "1:|a\rb|c\n");
}

static void a_byte_order_mark_is_not_part_of_the_first_column_name(void **state)
{
    (void)state;
    ASSERT_ROWS("\xef\xbb\xbf"
                "a,b\n",
                "1:|a|b\n");
    ASSERT_ROWS("\xef\xbb\xbf"
                "\"a\",b\n",
                "1:|a|b\n");
}

static void empty_lines_of_a_csv_file_are_skipped_and_counted(void **state)
{
    (void)state;
    ASSERT_ROWS("\n\na,b\n\r\nc\n\n", "3:|a|b\n5:|c\n");
}

static void a_quoted_field_may_contain_commas_and_line_ends_and_quotes(void **state)
{
    (void)state;
    ASSERT_ROWS("\"a,b\",\"c\"\"d\"\n", "1:|a,b|c\"d\n");
    ASSERT_ROWS("\"two\nlines\",x\nnext\n", "1:|two\nlines|x\n3:|next\n");
    ASSERT_ROWS("\"\",\"\"\"\"\n", "1:||\"\n");
    ASSERT_ROWS("5\" disk,x\n", "1:|5\" disk|x\n");
    ASSERT_ROWS("a\"\",b\nc,d\n", "1:|a\"\"|b\n2:|c|d\n");
}

static void an_unclosed_quote_makes_only_its_own_line_invalid(void **state)
{
    (void)state;
    ASSERT_ROWS("a,b\n1,\"2\n3,4\n5,6\n",
                "1:|a|b\n2:|1|2(a quote is not closed)\n3:|3|4\n4:|5|6\n");
    ASSERT_ROWS("a,b\n1,\"2", "1:|a|b\n2:|1|2(a quote is not closed)\n");
}

static void text_after_a_closing_quote_is_reported(void **state)
{
    (void)state;
    ASSERT_ROWS("\"a\"b,c\nd,e\n", "1:|a|c(there is text behind a closing quote)\n2:|d|e\n");
}

static void a_row_that_spans_two_blocks_of_the_file_is_read_completely(void **state)
{
    const struct from from = { .stop = &never };
    const size_t count = 40000;
    char *text = malloc(count * 32), path[64], expected[32];
    size_t length = 0, i = 0;
    struct rows *rows;
    struct row row;

    (void)state;
    for (; i < count; i++)
        length += (size_t)sprintf(text + length, "%zu,\"x\"\"%zu\n\",z\n", i, 7 * i);
    write_table(path, text, length);
    assert_int_equal(csv_rows_open(path, &from, &rows, NULL), CAMP_OK);
    for (i = 0; rows->next(rows, &row, NULL) == CAMP_OK; i++) {
        assert_int_equal(row.number, 2 * i + 1);
        assert_int_equal(row.count, 3);
        sprintf(expected, "x\"%zu\n", 7 * i);
        assert_int_equal(row.fields[1].length, strlen(expected));
        assert_memory_equal(row.fields[1].text, expected, strlen(expected));
    }
    assert_int_equal(i, count);
    rows->close(rows);
    unlink(path);
    free(text);
}

static void a_utf_16_file_or_a_file_with_a_row_above_1_mib_is_refused(void **state)
{
    const size_t length = (size_t)2 << 20;
    char *text = calloc(1, length);

    (void)state;
    open_made("\xff\xfet\0i\0", 6, "is UTF-16: save it as UTF-8");
    open_made(text, length, "line 1: more than 1 MiB in a row");
    memset(text, 'x', length);
    text[2] = ',';
    text[4] = '\n';
    text[9] = '"';
    open_made(text, length, "line 2: more than 1 MiB in a row");
    free(text);
}

static void an_unreadable_csv_file_is_refused(void **state)
{
    const struct from from = { .stop = &never };
    struct camp_error error = { 0 };
    struct rows *rows;

    (void)state;
    assert_int_equal(csv_rows_open("/no/such.csv", &from, &rows, &error), CAMP_E_IO);
    assert_string_equal(error.message, "/no/such.csv: No such file or directory");
    assert_int_equal(csv_rows_open("/tmp", &from, &rows, &error), CAMP_E_IO);
    assert_string_equal(error.message, "/tmp: Is a directory");
}

struct heard {
    uint64_t done, total;
};

static void hear(void *context, uint64_t done, uint64_t total)
{
    *(struct heard *)context = (struct heard){ done, total };
}

static void the_reported_progress_reaches_the_size_of_the_file(void **state)
{
    struct heard heard = { 0 };
    const struct from from = { .stop = &never, .progress = hear, .context = &heard };
    struct rows *rows;
    struct row row;
    char path[64];

    (void)state;
    write_table(path, "a,b\n1,2\n", 8);
    assert_int_equal(csv_rows_open(path, &from, &rows, NULL), CAMP_OK);
    while (rows->next(rows, &row, NULL) == CAMP_OK)
        ;
    rows->close(rows);
    unlink(path);
    assert_int_equal(heard.done, 8);
    assert_int_equal(heard.total, 8);
}

static void a_stop_request_ends_the_reading_of_a_csv_file(void **state)
{
    volatile sig_atomic_t stop = 1;
    const struct from from = { .stop = &stop };
    struct camp_error error = { 0 };
    struct rows *rows;

    (void)state;
    assert_int_equal(csv_rows_open(stored_table("sessions3"), &from, &rows, &error), CAMP_E_IO);
    assert_non_null(strstr(error.message, "stopped before it was read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_fields_end_at_commas_and_rows_at_line_ends),
        cmocka_unit_test(the_header_of_a_csv_file_determines_the_separator),
        cmocka_unit_test(the_lines_of_a_csv_file_may_end_in_crlf),
        cmocka_unit_test(a_byte_order_mark_is_not_part_of_the_first_column_name),
        cmocka_unit_test(empty_lines_of_a_csv_file_are_skipped_and_counted),
        cmocka_unit_test(a_quoted_field_may_contain_commas_and_line_ends_and_quotes),
        cmocka_unit_test(an_unclosed_quote_makes_only_its_own_line_invalid),
        cmocka_unit_test(text_after_a_closing_quote_is_reported),
        cmocka_unit_test(a_row_that_spans_two_blocks_of_the_file_is_read_completely),
        cmocka_unit_test(a_utf_16_file_or_a_file_with_a_row_above_1_mib_is_refused),
        cmocka_unit_test(an_unreadable_csv_file_is_refused),
        cmocka_unit_test(the_reported_progress_reaches_the_size_of_the_file),
        cmocka_unit_test(a_stop_request_ends_the_reading_of_a_csv_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
