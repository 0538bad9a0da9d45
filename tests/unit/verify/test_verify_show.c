/* Tests the columns and notes in the text output of camp verify. */
#include "verify/verify_findings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct row_spec spec = { "made-up", "switches", "a number : another" };
static const struct summary summary = { .time = "2026-11-21T10:24:30.101+00:00" };

/* Returns the text of the column with this heading, or "" if the cell is unknown. */
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

static void camp_verify_has_a_separate_column_for_the_unit(void **state)
{
    struct finding finding = finding_of(1, 1);

    (void)state;
    assert_string_equal(column(&finding, "expected"), "501");
    assert_string_equal(column(&finding, "unit"), "switches");
    finding.verdict = VERDICT_NOT_TESTED;
    assert_string_equal(column(&finding, "expected"), "");
    assert_string_equal(column(&finding, "unit"), "switches");
}

static void camp_verify_shows_an_error_with_its_sign(void **state)
{
    static const struct {
        double reported;
        const char *text;
    } cases[] = { { 501, "0" }, { 503, "+2" }, { 498.5, "-2.50" }, { 37501, "+37000" } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct finding finding = finding_of(INFINITY, INFINITY);

        finding.reported = cases[i].reported;
        assert_string_equal(column(&finding, "error"), cases[i].text);
    }
}

/* The bound is the one on the side of the error. */
static void camp_verify_shows_the_allowed_error_of_a_passed_comparison(void **state)
{
    struct finding finding = finding_of(0.5, 12);

    (void)state;
    finding.reported = 510;
    assert_string_equal(column(&finding, "allowed"), "+12");
    finding.reported = 500.6;
    assert_string_equal(column(&finding, "allowed"), "-0.500");
    finding = finding_of(0, 0);
    assert_string_equal(column(&finding, "allowed"), "0");
    finding = finding_of(0, INFINITY);
    assert_string_equal(column(&finding, "allowed"), "+any");
}

static void camp_verify_advises_to_repeat_a_comparison_that_other_programs_disturbed(void **state)
{
    static struct verify_record record;
    struct finding finding = finding_of(0, 0);

    (void)state;
    finding.verdict = VERDICT_NOT_TESTED;
    finding.was_disturbed = true;
    strcpy(finding.reason, "others use lo");
    verify_record_fill(&record, &finding, 1, &summary);
    assert_string_equal(record.notes[0],
                        "made-up: not tested: others use lo; try again on a quieter machine: "
                        "camp verify --only made-up");
    finding.was_disturbed = false;
    verify_record_fill(&record, &finding, 1, &summary);
    assert_string_equal(record.notes[0], "made-up: not tested: others use lo");
}

static void camp_verify_shows_the_allowed_difference_of_a_failed_comparison(void **state)
{
    static struct verify_record record;
    struct finding finding = finding_of(0.5, INFINITY);

    (void)state;
    finding.verdict = VERDICT_FAIL;
    verify_record_fill(&record, &finding, 1, &summary);
    assert_string_equal(record.notes[0],
                        "made-up: FAIL: a number : another (allowed: -0.500 to +any switches)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(camp_verify_has_a_separate_column_for_the_unit),
        cmocka_unit_test(camp_verify_shows_an_error_with_its_sign),
        cmocka_unit_test(camp_verify_shows_the_allowed_error_of_a_passed_comparison),
        cmocka_unit_test(camp_verify_advises_to_repeat_a_comparison_that_other_programs_disturbed),
        cmocka_unit_test(camp_verify_shows_the_allowed_difference_of_a_failed_comparison),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
