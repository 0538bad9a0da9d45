/* The output of each format is well-formed, whatever bytes a name has. The records are
 * synthetic. */
#include "views/html.h"
#include "views/view.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct field head_fields[] = { { "time", "time", "", 0, 0 },
                                            { "tier", NULL, "", 0, 0 } };
static const struct field row_fields[] = {
    { "pid", "pid", "", 7, 0 },
    { "name", "name", "", -10, 0 },
    { "share_percent", "share %", "", 8, 2 },
    { "new", "new", "", 3, 0 },
    { NULL, "remark", "", -8, 0 },
};
static const struct field total_fields[] = { { "n", "n", "", 4, 0 } };

struct made {
    struct cell head[2], rows[3][5], total[1];
    struct table tables[3];
    struct record record;
};

static void make(struct made *made, const char *name)
{
    *made = (struct made){
        .head = { cell_text("2026-11-21T12:00:00.000+00:00"), cell_text("a,b") },
        .rows = { { cell_integer(1), cell_text(name), cell_real(12.345), cell_boolean(true),
                    cell_text("x") },
                  { cell_unknown(), cell_unknown(), cell_real(NAN), cell_boolean(false),
                    cell_text("") },
                  { cell_integer(-3), cell_text("z"), cell_real(1.0 / 3), cell_boolean(false),
                    cell_text("") } },
        .total = { cell_natural(UINT64_MAX) },
    };
    made->tables[0] = (struct table){ "head", TABLE_INLINE, head_fields, 2, made->head, 1, true };
    made->tables[1] = (struct table){ "rows", TABLE_ROWS, row_fields, 5, made->rows[0], 3, false };
    made->tables[2] =
        (struct table){ "total", TABLE_OBJECT, total_fields, 1, made->total, 1, true };
    made->record = (struct record){ .schema = "camp.made/1",
                                    .headline = "headline",
                                    .tables = made->tables,
                                    .table_count = 3,
                                    .main_table = 1 };
}

/* Returns the output of a view, which the caller frees. */
static char *written(const struct view *view, const struct record *record,
                     const struct view_options *given)
{
    struct view_options options = given != NULL ? *given : (struct view_options){ 0 };
    char *text = NULL;
    size_t size = 0;

    options.stream = open_memstream(&text, &size);
    assert_int_equal(view->record(&options, record, 0), 0);
    fclose(options.stream);
    return text;
}

static void assert_written(const struct view *view, const struct record *record,
                           const struct view_options *options, const char *expected)
{
    char *text = written(view, record, options);

    assert_string_equal(text, expected);
    free(text);
}

static void json_is_one_object_per_line_with_null_for_unknown_values(void **state)
{
    struct made made;

    (void)state;
    make(&made, "a \"b\"\n\x01\\");
    assert_written(&json_view, &made.record, NULL,
                   "{\"schema\":\"camp.made/1\",\"time\":\"2026-11-21T12:00:00.000+00:00\","
                   "\"tier\":\"a,b\",\"rows\":[{\"pid\":1,\"name\":\"a "
                   "\\\"b\\\"\\u000a\\u0001\\\\\",\"share_percent\":12.345,\"new\":true},"
                   "{\"pid\":null,\"name\":null,\"share_percent\":null,\"new\":false},"
                   "{\"pid\":-3,\"name\":\"z\",\"share_percent\":0.333333333,\"new\":false}],"
                   "\"total\":{\"n\":18446744073709551615}}\n");
}

static void json_replaces_invalid_utf_8(void **state)
{
    static const struct {
        const char *name, *expected;
    } cases[] = {
        { "caf\xc3\xa9", "caf\xc3\xa9" },
        { "\xff", "\\ufffd" },
        { "\xc3", "\\ufffd" },                       /* incomplete */
        { "\xc0\xaf", "\\ufffd\\ufffd" },            /* an overlong form */
        { "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" }, /* a surrogate */
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
        { "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" }, /* above U+10FFFF */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made made;
        char expected[64];
        char *text;

        make(&made, cases[i].name);
        text = written(&json_view, &made.record, NULL);
        snprintf(expected, sizeof expected, "\"name\":\"%s\"", cases[i].expected);
        assert_non_null(strstr(text, expected));
        free(text);
    }
}

static void csv_repeats_the_fields_of_the_record_in_each_row(void **state)
{
    struct made made;

    (void)state;
    make(&made, "a \"b\", c");
    assert_written(&csv_view, &made.record, NULL,
                   "time,tier,pid,name,share_percent,new\n"
                   "2026-11-21T12:00:00.000+00:00,\"a,b\",1,\"a \"\"b\"\", c\",12.345,true\n"
                   "2026-11-21T12:00:00.000+00:00,\"a,b\",,,,false\n"
                   "2026-11-21T12:00:00.000+00:00,\"a,b\",-3,z,0.333333333,false\n");
}

static void csv_replaces_invalid_utf_8(void **state)
{
    struct made made;
    char *text;

    (void)state;
    make(&made, "caf\xc3\xa9 \xff\xfe");
    text = written(&csv_view, &made.record, NULL);
    assert_non_null(strstr(text, ",1,caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd,12.345"));
    free(text);
}

static void csv_shows_the_requested_table(void **state)
{
    struct view_options options = { .table = "total" };
    struct made made;

    (void)state;
    make(&made, "a");
    assert_written(&csv_view, &made.record, &options,
                   "time,tier,n\n2026-11-21T12:00:00.000+00:00,\"a,b\",18446744073709551615\n");
}

static void text_has_aligned_columns_with_a_dash_for_unknown_values(void **state)
{
    struct view_options options = { .width = 80 };
    struct made made;

    (void)state;
    make(&made, "a");
    assert_written(&text_view, &made.record, &options,
                   "headline\n"
                   "    pid  name         share %  new  remark\n"
                   "      1  a              12.35  yes  x\n"
                   "      -  -                  -\n"
                   "     -3  z               0.33\n");
}

static void a_name_in_text_output_cannot_move_the_cursor(void **state)
{
    struct made made;
    char *text;

    (void)state;
    make(&made, "a\033[2J\n\tb\x7f\xc2\x9b");
    made.record.headline = "two\nlines: c\033[2J\x7f\xc2\x9b\xff \xc2\xb7";
    text = written(&text_view, &made.record, NULL);
    assert_non_null(strstr(text, "a?[2J??b"));
    assert_non_null(strstr(text, "two\nlines: c?[2J??? \xc2\xb7\n"));
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\t'));
    free(text);
}

static void text_lines_are_cut_at_the_width_of_the_terminal(void **state)
{
    struct view_options options = { .width = 24 };
    struct made made;
    char *text;

    (void)state;
    make(&made, "a name that is longer than its column");
    text = written(&text_view, &made.record, &options);
    assert_non_null(strstr(
        text, "    pid  name        \xe2\x80\xa6\n      1  a name th\xe2\x80\xa6  \xe2\x80\xa6\n"));
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 24 + 4); /* a mark has three bytes */
    free(text);
}

/* The width of a field limits the text in its column, even if the line is wide. */
static void a_long_name_is_cut_with_a_mark_on_a_terminal_but_not_in_a_file(void **state)
{
    struct view_options wide = { .width = 120 }, narrow = { .width = 44 };
    struct made made;
    char *expected;

    (void)state;
    make(&made, "select a, b, c, d from e where f = g and h");
    expected = written(&text_view, &made.record, &wide);
    assert_non_null(strstr(expected, "  select a,\xe2\x80\xa6     12.35"));
    assert_written(&text_view, &made.record, &narrow, expected);
    free(expected);
    assert_non_null(setlocale(LC_CTYPE, "C"));
    expected = written(&text_view, &made.record, &wide);
    assert_non_null(strstr(expected, "  select a..     12.35"));
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    free(expected);
    expected = written(&text_view, &made.record, NULL);
    assert_non_null(
        strstr(expected, "  select a, b, c, d from e where f = g and h     12.35  yes"));
    free(expected);
}

static const struct field wrapped_fields[] = {
    { "n", "n", "", 3, 0 },
    { "help", "what it is", "", 0, 0 },
    { "options", "options", "", 0, 0 },
};
static const struct cell wrapped_cells[] = {
    { .kind = CELL_NATURAL, .natural = 1234567 },
    { .kind = CELL_TEXT, .text = "threads of this machine, by microstates" },
    { .kind = CELL_TEXT, .text = "--tier --no-syscalls" },
    { .kind = CELL_NATURAL, .natural = 2 },
    { .kind = CELL_TEXT, .text = "a-very-long-word-without-blanks" },
    { .kind = CELL_TEXT, .text = "" },
};

/* A number is never cut, and the columns of text share the rest of the line. */
static void text_cells_are_wrapped_between_words_on_a_terminal(void **state)
{
    const struct table table = TABLE_OF_ROWS("t", wrapped_fields, wrapped_cells, 2);
    const struct record record = { .schema = "s", .tables = &table, .table_count = 1 };
    struct view_options options = { .width = 44 };

    (void)state;
    assert_written(&text_view, &record, &options,
                   "      n  what it is        options\n"
                   "1234567  threads of this   --tier\n"
                   "         machine, by       --no-syscalls\n"
                   "         microstates\n"
                   "      2  a-very-long-word\n"
                   "         -without-blanks\n");
    assert_written(&text_view, &record, NULL,
                   "      n  what it is                               options\n"
                   "1234567  threads of this machine, by microstates  --tier --no-syscalls\n"
                   "      2  a-very-long-word-without-blanks\n");
}

static const struct field spare_fields[] = {
    { NULL, "state, cause", "" },          { NULL, "%", "", 6, 2 },
    { NULL, "ms", "", 8, 3, .spare = 1 },  { NULL, "p50", "", 6, 3, .spare = 2 },
    { NULL, "p99", "", 6, 3, .spare = 2 }, { NULL, "max", "", 6, 3 },
};

/* No cell is a mark alone, and the continuation of an indented cell is indented. */
static void spare_columns_are_left_out_of_narrow_tables_with_a_note(void **state)
{
    const struct cell cells[] = { cell_text("  nothing has woken it yet, and more"),
                                  cell_real(100),
                                  cell_real(1002.334),
                                  cell_unknown(),
                                  cell_real(1),
                                  cell_real(2) };
    const struct table table = TABLE_OF_ROWS("t", spare_fields, cells, 1);
    const struct record record = { .schema = "s", .tables = &table, .table_count = 1 };
    struct view_options options = { .width = 70 };

    (void)state;
    assert_written(&text_view, &record, &options,
                   "state, cause                       %        ms     p50     p99     max\n"
                   "  nothing has woken it yet,   100.00  1002.334       -   1.000   2.000\n"
                   "    and more\n");
    options.width = 54;
    assert_written(&text_view, &record, &options,
                   "state, cause                       %        ms     max\n"
                   "  nothing has woken it yet,   100.00  1002.334   2.000\n"
                   "    and more\n"
                   "(too narrow for p50, p99)\n");
    options.width = 46;
    assert_written(&text_view, &record, &options,
                   "state, cause                         %     max\n"
                   "  nothing has woken it yet,     100.00   2.000\n"
                   "    and more\n"
                   "(too narrow for ms, p50, p99)\n");
}

/* The first column of a continuation is empty, and the last one has no text in it. */
static void the_continuation_of_a_row_that_fits_has_no_mark(void **state)
{
    static const struct field fields[] = { { NULL, "state", "" },
                                           { NULL, "object", "" },
                                           { NULL, "sleeps", "", 6 } };
    const struct cell cells[] = { cell_text("pipe"), cell_text("/run/fifo with sleeper (12345)"),
                                  cell_text("1 open") };
    const struct table table = TABLE_OF_ROWS("t", fields, cells, 1);
    const struct record record = { .schema = "s", .tables = &table, .table_count = 1 };
    struct view_options options = { .width = 30 };

    (void)state;
    assert_written(&text_view, &record, &options,
                   "state  object           sleeps\n"
                   "pipe   /run/fifo with   1 open\n"
                   "       sleeper (12345)\n");
}

static void only_the_requested_columns_are_shown(void **state)
{
    static const char *const columns[] = { "name", "new", NULL };
    struct view_options options = { .columns = columns };
    struct made made;

    (void)state;
    make(&made, "a");
    assert_written(&csv_view, &made.record, &options,
                   "time,tier,name,new\n2026-11-21T12:00:00.000+00:00,\"a,b\",a,true\n"
                   "2026-11-21T12:00:00.000+00:00,\"a,b\",,false\n"
                   "2026-11-21T12:00:00.000+00:00,\"a,b\",z,false\n");
    assert_written(&text_view, &made.record, &options,
                   "headline\nname        new\na           yes\n-\nz\n");
}

static void each_view_reports_a_full_disk(void **state)
{
    const struct view *const views[] = { &text_view, &json_view, &csv_view };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        FILE *full = fopen("/dev/full", "w");
        struct view_options options = { .stream = full };
        struct made made;

        make(&made, "a");
        assert_non_null(full);
        assert_int_equal(views[i]->record(&options, &made.record, 0), ENOSPC);
        fclose(full);
    }
}

static const struct field check_interval[] = { { "time", NULL, "", 0, 0 } };
static const struct field check_rows[] = {
    { "pid", "", "", 0, 0 },
    { "measured_percent", "", "", 0, 0 },
    { "sampled_percent", "", "", 0, 0 },
    { "error_percent", "", "", 0, 0 },
};
static const struct field check_total[] = {
    { "processes", "", "", 0, 0 },
    { "new", "", "", 0, 0 },
    { "active", "", "", 0, 0 },
    { "measured_percent", "", "", 0, 0 },
    { "sampled_percent", "", "", 0, 0 },
    { "error_percent", "", "", 0, 0 },
    { "absolute_error_percent", "", "", 0, 0 },
    { "maximum_error_percent", "", "", 0, 0 },
};

static void classic_output_has_the_lines_of_the_cmg98_paper(void **state)
{
    const struct cell interval[] = { cell_text("1998-03-01T00:17:10.000-08:00") };
    const struct cell rows[] = {
        cell_integer(6262), cell_real(2.413), cell_real(0.002), cell_real(-99.93),
        cell_integer(1),    cell_real(0),     cell_real(0),     cell_unknown(),
        cell_unknown(),     cell_real(1),     cell_unknown(),   cell_unknown(),
    };
    struct cell total[] = {
        cell_natural(42), cell_natural(0),   cell_natural(20), cell_real(5.763),
        cell_real(3.027), cell_real(-47.48), cell_real(48.56), cell_real(100.00)
    };
    const struct table tables[] = {
        { "interval", TABLE_INLINE, check_interval, 1, interval, 1, false },
        { "processes", TABLE_ROWS, check_rows, 4, rows, 3, false },
        { "total", TABLE_OBJECT, check_total, 8, total, 1, false },
    };
    const struct record record = {
        .schema = "camp.check/1", .tables = tables, .table_count = 3, .main_table = 1
    };

    (void)state;
    assert_written(&classic_view, &record, NULL,
                   "00:17:10 cpu time accuracy check  proc 42  new 0\n"
                   "pid 6262 meas 2.413 samp 0.002 err 99.93%\n"
                   "pid - meas 1.000 samp - err -\n"
                   "msac 42 meas 5.763 samp 3.027 err -47.48% abs 48.56% max 100.00%\n");
    total[0] = cell_unknown(); /* a recording does not have the number of processes */
    assert_written(&classic_view, &record, NULL,
                   "00:17:10 cpu time accuracy check  proc -  new 0\n"
                   "pid 6262 meas 2.413 samp 0.002 err 99.93%\n"
                   "pid - meas 1.000 samp - err -\n"
                   "msac - meas 5.763 samp 3.027 err -47.48% abs 48.56% max 100.00%\n");
}

static void an_html_column_without_a_title_is_headed_by_the_name_of_its_field(void **state)
{
    static const struct field fields[] = { { "tier", NULL, NULL, 0, 0 } };
    const struct cell cells[] = { cell_text("bpf") };
    const struct table table = { "t", TABLE_ROWS, fields, 1, cells, 1, false };
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    html_table(stream, &table, NULL);
    fclose(stream);
    assert_non_null(strstr(text, "data-column=\"tier\" title=\"\">tier</th>"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_one_object_per_line_with_null_for_unknown_values),
        cmocka_unit_test(json_replaces_invalid_utf_8),
        cmocka_unit_test(csv_repeats_the_fields_of_the_record_in_each_row),
        cmocka_unit_test(csv_replaces_invalid_utf_8),
        cmocka_unit_test(csv_shows_the_requested_table),
        cmocka_unit_test(text_has_aligned_columns_with_a_dash_for_unknown_values),
        cmocka_unit_test(a_name_in_text_output_cannot_move_the_cursor),
        cmocka_unit_test(text_lines_are_cut_at_the_width_of_the_terminal),
        cmocka_unit_test(an_html_column_without_a_title_is_headed_by_the_name_of_its_field),
        cmocka_unit_test(a_long_name_is_cut_with_a_mark_on_a_terminal_but_not_in_a_file),
        cmocka_unit_test(text_cells_are_wrapped_between_words_on_a_terminal),
        cmocka_unit_test(spare_columns_are_left_out_of_narrow_tables_with_a_note),
        cmocka_unit_test(the_continuation_of_a_row_that_fits_has_no_mark),
        cmocka_unit_test(only_the_requested_columns_are_shown),
        cmocka_unit_test(each_view_reports_a_full_disk),
        cmocka_unit_test(classic_output_has_the_lines_of_the_cmg98_paper),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
