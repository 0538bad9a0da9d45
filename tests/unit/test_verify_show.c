/* camp verify's text: what fits in its columns. */
#include "commands/verify_show.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct row_spec spec = { "made-up", "switches", "a number : another" };
static const struct summary summary = { .passed = 1, .time = "2026-11-21T10:24:30.101+00:00" };

/* The text of a column, by its heading; "" when it is unknown. */
static const char *column(const struct finding *finding, const char *title)
{
    static struct verify_record record;
    const struct table *table = &record.tables[0];

    verify_record_fill(&record, finding, 1, &summary);
    for (size_t i = 0; i < table->field_count; i++) {
        if (table->fields[i].title == NULL || strcmp(table->fields[i].title, title) != 0)
            continue;
        assert_true(table->cells[i].kind == CELL_TEXT || table->cells[i].kind == CELL_UNKNOWN);
        return table->cells[i].kind == CELL_TEXT ? table->cells[i].text : "";
    }
    fail_msg("there is no column '%s'", title);
    return "";
}

static struct finding finding_of(double below, double above)
{
    return (struct finding){ .spec = &spec,
                             .verdict = VERDICT_PASS,
                             .wanted = true,
                             .expected = 501,
                             .reported = 501,
                             .below = below,
                             .above = above,
                             .confidence = NAN };
}

static void the_unit_stands_beside_the_numbers(void **state)
{
    struct finding finding = finding_of(1, 1);

    (void)state;
    assert_string_equal(column(&finding, "expected"), "501");
    assert_string_equal(column(&finding, "unit"), "switches");
    finding.verdict = VERDICT_NOT_TESTED;
    assert_string_equal(column(&finding, "expected"), "");
    assert_string_equal(column(&finding, "unit"), "switches");
}

static void two_bounds_are_short_enough_not_to_be_cut(void **state)
{
    static const struct {
        double below, above;
        const char *text;
    } cases[] = {
        { 13.27, 27.53, "-13.3 +27.5" }, { 97.5, 1234.56, "-97.5 +1235" },
        { 0, 1101004.8, "-0 +1101005" }, { 2.514, 2.566, "-2.51 +2.57" },
        { 1, 0.1024, "-1 +0.102" },      { 0, INFINITY, "-0 +any" },
        { 37.456, 37.456, "37.46" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct finding finding = finding_of(cases[i].below, cases[i].above);

        assert_string_equal(column(&finding, "allowed"), cases[i].text);
        assert_true(strlen(cases[i].text) <= 11);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unit_stands_beside_the_numbers),
        cmocka_unit_test(two_bounds_are_short_enough_not_to_be_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
