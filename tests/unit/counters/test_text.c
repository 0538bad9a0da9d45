/* Parses numbers, words and lines. */
#include "counters/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct cursor of(const char *text)
{
    return cursor_of(text, strlen(text));
}

static void a_number_in_a_text_ends_after_its_last_digit(void **state)
{
    struct cursor cursor = of(" \t12x");
    uint64_t value;

    (void)state;
    assert_true(text_u64(&cursor, &value));
    assert_int_equal(value, 12);
    assert_int_equal(*cursor.at, 'x');
    assert_false(text_u64(&cursor, &value));
    assert_int_equal(*cursor.at, 'x');
}

static void a_parser_reads_no_byte_beyond_the_end_of_its_text(void **state)
{
    struct cursor cursor = cursor_of("1234", 2);
    uint64_t value;

    (void)state;
    assert_true(text_u64(&cursor, &value));
    assert_int_equal(value, 12);
    assert_int_equal(cursor_left(&cursor), 0);
    assert_false(text_u64(&cursor, &value));
}

static void a_number_of_more_than_64_bits_is_refused(void **state)
{
    static const struct {
        const char *text;
        bool fits;
        uint64_t value;
    } cases[] = {
        { "9999999999999999999", true, 9999999999999999999u },
        { "10000000000000000000", true, 10000000000000000000u },
        { "18446744073709551615", true, UINT64_MAX },
        { "18446744073709551616", false, 0 },
        { "99999999999999999999", false, 0 },
        { "118446744073709551615", false, 0 },
        { "000000000000000000000000000007", true, 7 },
        { "-1", false, 0 },
        { "", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cursor cursor = of(cases[i].text);
        uint64_t value = 0;

        assert_int_equal(text_u64(&cursor, &value), cases[i].fits);
        assert_true(value == cases[i].value);
        assert_int_equal(cursor_left(&cursor), cases[i].fits ? 0 : strlen(cases[i].text));
    }
}

static void a_line_may_be_empty_or_lack_its_newline(void **state)
{
    struct cursor cursor = of("a\n\nbc");
    struct cursor line;

    (void)state;
    assert_true(text_line(&cursor, &line));
    assert_int_equal(cursor_left(&line), 1);
    assert_true(text_line(&cursor, &line));
    assert_int_equal(cursor_left(&line), 0);
    assert_true(text_line(&cursor, &line));
    assert_int_equal(cursor_left(&line), 2);
    assert_false(text_line(&cursor, &line));
}

static void a_prefix_is_skipped_only_if_all_of_it_matches_the_text(void **state)
{
    struct cursor cursor = of("cpu0");

    (void)state;
    assert_false(text_prefix(&cursor, "cpu00"));
    assert_false(text_prefix(&cursor, "cpx"));
    assert_true(text_prefix(&cursor, "cpu"));
    assert_int_equal(*cursor.at, '0');
}

static void words_are_separated_by_blanks_and_copied_up_to_a_maximum_length(void **state)
{
    struct cursor cursor = of("  first second");
    struct cursor word;
    char copy[4];

    (void)state;
    assert_true(camp_text_word(&cursor, &word));
    camp_text_copy(copy, sizeof copy, word);
    assert_string_equal(copy, "fir");
    assert_true(camp_text_word(&cursor, &word));
    assert_int_equal(cursor_left(&word), 6);
    assert_false(camp_text_word(&cursor, &word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_in_a_text_ends_after_its_last_digit),
        cmocka_unit_test(a_parser_reads_no_byte_beyond_the_end_of_its_text),
        cmocka_unit_test(a_number_of_more_than_64_bits_is_refused),
        cmocka_unit_test(a_line_may_be_empty_or_lack_its_newline),
        cmocka_unit_test(a_prefix_is_skipped_only_if_all_of_it_matches_the_text),
        cmocka_unit_test(words_are_separated_by_blanks_and_copied_up_to_a_maximum_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
