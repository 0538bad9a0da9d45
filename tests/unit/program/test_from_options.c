/* Tests the times that --begin and --end accept. */
#include "program/from_options.h"

#include "../tree.h"

#include <stdlib.h>
#include <time.h>

#define S 1000000000

/* A recording that starts at 2026-11-22T00:30:00Z and lasts an hour and a half. */
static const int64_t begin_ns = 1795307400 * (int64_t)S, end_ns = 1795312800 * (int64_t)S;

static int64_t parse_side(const char *text, enum from_side side)
{
    int64_t time_ns = -1;

    assert_true(from_time_parse(text, side, begin_ns, end_ns, &time_ns));
    return time_ns;
}

static int64_t parse(const char *text)
{
    const int64_t time_ns = parse_side(text, FROM_BEGIN);

    if (text[2] != ':') /* A date or a relative time means the same time for --begin and --end. */
        assert_int_equal(parse_side(text, FROM_END), time_ns);
    return time_ns;
}

static void a_date_without_a_zone_is_local_time(void **state)
{
    (void)state;
    setenv("TZ", "CET-1", 1);
    tzset();
    assert_int_equal(parse("2026-11-22T01:30"), begin_ns);
    assert_int_equal(parse("2026-11-22 01:30:00.25"), begin_ns + S / 4);
    assert_int_equal(parse("2026-11-22T00:30:00Z"), begin_ns);
    assert_int_equal(parse("2026-11-21T19:30-05:00"), begin_ns);
    assert_int_equal(parse("2026-11-22"), begin_ns - 5400 * (int64_t)S);
}

static void a_time_of_day_means_its_first_occurrence_in_a_recording(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(parse("01:00"), begin_ns + 1800 * (int64_t)S);
    assert_int_equal(parse("00:30"), begin_ns);
    assert_int_equal(parse("00:29:30"), begin_ns - 30 * (int64_t)S);
}

static void a_begin_time_outside_a_recording_lies_before_it_and_an_end_time_after_it(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_int_equal(parse_side("00:29", FROM_BEGIN), begin_ns - 60 * (int64_t)S);
    assert_int_equal(parse_side("23:30", FROM_BEGIN), begin_ns - 3600 * (int64_t)S);
    assert_int_equal(parse_side("02:01", FROM_BEGIN), begin_ns - (86400 - 5460) * (int64_t)S);
    assert_int_equal(parse_side("02:01", FROM_END), end_ns + 60 * (int64_t)S);
    assert_int_equal(parse_side("00:15", FROM_END), begin_ns + (86400 - 900) * (int64_t)S);
    assert_int_equal(parse_side("01:00", FROM_END), begin_ns + 1800 * (int64_t)S);
}

static void the_options_begin_and_end_accept_times_relative_to_the_recording(void **state)
{
    int64_t time_ns;

    (void)state;
    assert_int_equal(parse("+10m"), begin_ns + 600 * (int64_t)S);
    assert_int_equal(parse("-90s"), end_ns - 90 * (int64_t)S);
    assert_false(from_time_parse("+10m", FROM_BEGIN, 0, 0, &time_ns));
}

static void a_text_that_is_not_a_time_is_refused(void **state)
{
    static const char *const texts[] = { "",
                                         "x",
                                         "25:00",
                                         "02:00x",
                                         "+",
                                         "+10q",
                                         "2026-13-01T00:00",
                                         "2026-11-22T",
                                         "02:61",
                                         "2026-1",
                                         "2026-11-22T02:00+1" };
    int64_t time_ns;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(from_time_parse(texts[i], FROM_END, begin_ns, end_ns, &time_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_without_a_zone_is_local_time),
        cmocka_unit_test(a_time_of_day_means_its_first_occurrence_in_a_recording),
        cmocka_unit_test(a_begin_time_outside_a_recording_lies_before_it_and_an_end_time_after_it),
        cmocka_unit_test(the_options_begin_and_end_accept_times_relative_to_the_recording),
        cmocka_unit_test(a_text_that_is_not_a_time_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
