/* Tests how numbers, times and units in the fields of a table are parsed. */
#include "sources/field.h"

#include "../tree.h"
#include "counters/units.h"

#include <math.h>
#include <time.h>

static struct field field_of(const char *text)
{
    return (struct field){ text, strlen(text) };
}

static void assert_number(const char *text, double expected)
{
    double value = -1;

    assert_int_equal(field_number(field_of(text), &value), FIELD_OK);
    if (value != expected)
        fail_msg("%s is %.17g, not %.17g", text, value, expected);
}

static void a_number_in_a_field_is_read_to_its_last_bit(void **state)
{
    (void)state;
    assert_number("0", 0);
    assert_number("998.5", 998.5);
    assert_number(" +7\t", 7);
    assert_number("-0.0", 0);
    assert_number(".5", 0.5);
    assert_number("5.", 5);
    assert_number("0.1", 0.1);
    assert_number("33.333333333333336", 33.333333333333336);
    assert_number("1e3", 1e3);
    assert_number("2.5E-3", 2.5e-3);
    assert_number("0.000000000000000000000000000001", 1e-30);
    assert_number("12345678901234567890123", 1.2345678901234567e22);
    assert_number("1e-400", 0);
}

static void assert_fault(const char *text, enum field_fault expected)
{
    double value;

    assert_int_equal(field_number(field_of(text), &value), expected);
}

static void a_text_that_is_not_a_number_is_refused_with_the_reason(void **state)
{
    (void)state;
    assert_fault("", FIELD_EMPTY);
    assert_fault("  ", FIELD_EMPTY);
    assert_fault("abc", FIELD_NO_NUMBER);
    assert_fault("1,5", FIELD_COMMA);
    assert_fault("-1.234,5", FIELD_COMMA);
    assert_fault("1,5 ms", FIELD_NO_NUMBER);
    assert_fault(",", FIELD_NO_NUMBER);
    assert_fault("5 ms", FIELD_NO_NUMBER);
    assert_fault("0x10", FIELD_NO_NUMBER);
    assert_fault(".", FIELD_NO_NUMBER);
    assert_fault("1e", FIELD_NO_NUMBER);
    assert_fault("1.2.3", FIELD_NO_NUMBER);
    assert_fault("--1", FIELD_NO_NUMBER);
    assert_fault("NaN", FIELD_NOT_FINITE);
    assert_fault("-nan", FIELD_NOT_FINITE);
    assert_fault("Infinity", FIELD_NOT_FINITE);
    assert_fault("1e400", FIELD_NOT_FINITE);
    assert_fault("-3", FIELD_NEGATIVE);
}

static void the_error_about_a_field_is_one_short_line(void **state)
{
    char text[96];

    (void)state;
    field_complaint(field_of("abc"), FIELD_NO_NUMBER, text, sizeof text);
    assert_string_equal(text, "'abc' is no number");
    field_complaint(field_of("a\033[2Jb\nc"), FIELD_NO_NUMBER, text, sizeof text);
    assert_string_equal(text, "'a?[2Jb?c' is no number");
    field_complaint(field_of("12345678901234567890123ä56"), FIELD_NO_TIME, text, sizeof text);
    assert_string_equal(text, "'12345678901234567890123' is no time, such as 2026-11-22 10:00:00");
}

static void assert_time(struct time_form form, const char *text, int64_t expected)
{
    int64_t time = -1;

    assert_int_equal(field_time(field_of(text), &form, &time), FIELD_OK);
    if (time != expected)
        fail_msg("%s is %lld, not %lld", text, (long long)time, (long long)expected);
}

static void assert_no_time(struct time_form form, const char *text, enum field_fault expected)
{
    int64_t time;

    assert_int_equal(field_time(field_of(text), &form, &time), expected);
}

#define AT 1795312800000000000 /* 2026-11-22 02:00 UTC */

static void a_time_may_be_an_iso_8601_text(void **state)
{
    const struct time_form form = { 0 };

    (void)state;
    assert_time(form, "2026-11-22T02:00:00Z", AT);
    assert_time(form, " 2026-11-22 02:00:00 UTC ", AT);
    assert_time(form, "2026-11-22T02:00Z", AT);
    assert_time(form, "2026/11/22 02:00:00+00:00", AT);
    assert_time(form, "2026-11-22T03:00:00.5+01:00", AT + 500000000);
    assert_time(form, "2026-11-21T20:30:00,000000001-0530", AT + 1);
    assert_time(form, "2026-11-22T02:00:00.12345678987Z", AT + 123456789);
    assert_time(form, "2016-12-31T23:59:60Z", 1483228800 * (int64_t)NS_PER_S);
    assert_time(form, "2024-02-29T00:00:00Z", 1709164800 * (int64_t)NS_PER_S);
}

static void a_date_that_does_not_exist_is_refused(void **state)
{
    const struct time_form form = { 0 };

    (void)state;
    assert_no_time(form, "", FIELD_EMPTY);
    assert_no_time(form, "2026-02-29T00:00:00Z", FIELD_NO_TIME);
    assert_no_time(form, "2026-13-01", FIELD_NO_TIME);
    assert_no_time(form, "2026-00-01", FIELD_NO_TIME);
    assert_no_time(form, "2026-01-00", FIELD_NO_TIME);
    assert_no_time(form, "2026-01-01T24:00:00Z", FIELD_NO_TIME);
    assert_no_time(form, "2026-01-01T00:60Z", FIELD_NO_TIME);
    assert_no_time(form, "2026-01-01T00:00:00.Z", FIELD_NO_TIME);
    assert_no_time(form, "2026-01-01T00:00:00+1", FIELD_NO_TIME);
    assert_no_time(form, "2026-01-01T00:00:00Zulu", FIELD_NO_TIME);
    assert_no_time(form, "1969-12-31T00:00:00Z", FIELD_NO_TIME);
    assert_no_time(form, "2262-12-31T00:00:00Z", FIELD_NO_TIME);
    assert_no_time(form, "30-FEB-26", FIELD_NO_TIME);
    assert_no_time(form, "22-NOW-26", FIELD_NO_TIME);
    assert_no_time(form, "22-NOV-26 13.00.00 PM", FIELD_NO_TIME);
    assert_no_time(form, "22-NOV-26 00.00.00 AM", FIELD_NO_TIME);
    assert_no_time(form, "22-NOV-26 24.00.00", FIELD_NO_TIME);
    assert_no_time(form, "22-NOV-26 10.00", FIELD_NO_TIME);
    assert_no_time(form, "5", FIELD_NO_TIME);
}

static void a_time_may_be_written_as_by_oracle(void **state)
{
    const struct time_form form = { 0 };

    (void)state;
    assert_time(form, "22-NOV-26 02.00.00.000000 AM +00:00", AT);
    assert_time(form, "22-nov-2026 02:00:00 UTC", AT);
    assert_time(form, "22-NOV-26 02.00.00.25 PM +12:00", AT + 250000000);
    assert_time(form, "22-NOV-26 12.30.00 AM -01:30", AT);
}

/* The time zone is one hour ahead of UTC, and two hours in summer. */
static void a_time_without_an_offset_is_local_time(void **state)
{
    const struct time_form form = { 0 };

    (void)state;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    assert_time(form, "2026-11-22 03:00:00", AT);
    assert_time(form, "2026-11-22", AT - 3 * 3600 * (int64_t)NS_PER_S);
    assert_time(form, "2026-07-01 02:00:00", 1782864000 * (int64_t)NS_PER_S);
    assert_time(form, "2026-03-29 01:59:59", 1774745999 * (int64_t)NS_PER_S);
    assert_time(form, "2026-03-29 03:00:00", 1774746000 * (int64_t)NS_PER_S);
    setenv("TZ", "UTC", 1);
    tzset();
}

static struct time_form form_of(const char *first, const char *second, enum unit said)
{
    const struct field times[] = { field_of(first), field_of(second) };
    struct time_form form;

    time_form_guess(&form, times, COUNT(times), said);
    return form;
}

static void the_unit_of_a_time_is_found_by_the_size_of_the_number(void **state)
{
    (void)state;
    assert_time(form_of("1795312799", "1795312800", UNIT_NONE), "1795312800", AT);
    assert_time(form_of("1795312799", "1795312800", UNIT_NONE), "1795312800.123456789",
                AT + 123456789);
    assert_time(form_of("1795312800000", "1", UNIT_NONE), "1795312800001", AT + 1000000);
    assert_time(form_of("1795312800000000", "1", UNIT_NONE), "1795312800000001", AT + 1000);
    assert_time(form_of("1795312800000000000", "1", UNIT_NONE), "1795312800000000001", AT + 1);
    assert_time(form_of("1.7953128e9", "1", UNIT_NONE), "1.7953128e9", AT);
    assert_false(form_of("1795312799", "1795312800", UNIT_NONE).is_plain);
}

static void times_that_are_small_numbers_count_from_zero(void **state)
{
    (void)state;
    assert_true(form_of("1", "2", UNIT_NONE).is_plain);
    assert_time(form_of("1", "2", UNIT_NONE), "2.5", 2500000000);
    assert_time(form_of("1", "2", UNIT_MS), "2.5", 2500000);
    assert_true(form_of("1000000000", "2000000000", UNIT_MS).is_plain);
    assert_no_time(form_of("1", "2", UNIT_NONE), "-1", FIELD_NEGATIVE);
    assert_no_time(form_of("1", "2", UNIT_NONE), "x", FIELD_NO_TIME);
    assert_no_time(form_of("1", "2", UNIT_NONE), "5x", FIELD_NO_TIME);
    assert_no_time(form_of("1", "2", UNIT_NONE), "99999999999", FIELD_NO_TIME);
    assert_no_time(form_of("1795312800000000000", "1", UNIT_NONE), "99999999999999999999",
                   FIELD_NO_TIME);
}

static void a_unit_is_found_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(unit_of_name("ms", 2), UNIT_MS);
    assert_int_equal(unit_of_name("pct", 3), UNIT_PERCENT);
    assert_int_equal(unit_of_name("seconds", 7), UNIT_S);
    assert_int_equal(unit_of_name("days", 4), UNIT_NONE);
    assert_string_equal(unit_name(UNIT_PERCENT), "percent");
    assert_float_equal(unit_ns(UNIT_PERCENT, 2e9), 2e7, 0);
    assert_float_equal(unit_ns(UNIT_US, 2e9), 1e3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_in_a_field_is_read_to_its_last_bit),
        cmocka_unit_test(a_text_that_is_not_a_number_is_refused_with_the_reason),
        cmocka_unit_test(the_error_about_a_field_is_one_short_line),
        cmocka_unit_test(a_time_may_be_an_iso_8601_text),
        cmocka_unit_test(a_date_that_does_not_exist_is_refused),
        cmocka_unit_test(a_time_may_be_written_as_by_oracle),
        cmocka_unit_test(a_time_without_an_offset_is_local_time),
        cmocka_unit_test(the_unit_of_a_time_is_found_by_the_size_of_the_number),
        cmocka_unit_test(times_that_are_small_numbers_count_from_zero),
        cmocka_unit_test(a_unit_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
