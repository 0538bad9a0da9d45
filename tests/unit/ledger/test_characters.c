#include "ledger/characters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_shown(const char *text, const char *expected)
{
    char *copy =
        strdup(text); /* without spare bytes, so that a sanitizer sees a read past the end */

    assert_non_null(copy);
    make_printable(copy);
    assert_string_equal(copy, expected);
    free(copy);
}

static void printable_text_of_any_script_is_unchanged(void **state)
{
    static const char *const texts[] = {
        "",       "nginx: worker", "Größe", "日本", "a😀b", "e\u0301", "\U0001f469\u200d\U0001f52c",
        "\ufffd", "~\u00a0\u2027"
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_shown(texts[i], texts[i]);
}

static void control_characters_become_question_marks(void **state)
{
    (void)state;
    assert_shown("a\033[31m\n\r\t\x7f", "a?[31m????");
    assert_shown("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "???\xc2\xa0");
}

static void characters_that_hide_or_reorder_text_become_question_marks(void **state)
{
    (void)state;
    assert_shown("a\u202egpj.exe", "a?gpj.exe");
    assert_shown("\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u2060\u2066\u2069\u206f",
                 "???????????");
    assert_shown("\ufeff\ufff9\U000e0001\U000e007f\uffff", "?????");
}

static void each_invalid_byte_becomes_a_question_mark(void **state)
{
    (void)state;
    assert_shown("a\x9b\xff", "a??");
    assert_shown("\xc0\x9b", "??");                      /* overlong ESC */
    assert_shown("\xed\xa0\x80", "???");                 /* a surrogate */
    assert_shown("\xf4\x90\x80\x80", "????");            /* above U+10FFFF */
    assert_shown("\xe2\x80", "??");                      /* cut off */
    assert_shown("\xe2\x80\xae\xe2\x80", "???");         /* unprintable, then cut off */
    assert_shown("\xf0\x9f\x98\x80\xf0", "\U0001f600?"); /* printable, then cut off */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printable_text_of_any_script_is_unchanged),
        cmocka_unit_test(control_characters_become_question_marks),
        cmocka_unit_test(characters_that_hide_or_reorder_text_become_question_marks),
        cmocka_unit_test(each_invalid_byte_becomes_a_question_mark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
