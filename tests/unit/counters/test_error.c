/* Error messages, names of results, and structs of callers with another version of the library. */
#include "counters/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_long_error_message_keeps_all_of_its_advice(void **state)
{
    struct camp_error error;
    char path[CAMP_ERROR_SIZE + 400];

    (void)state;
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    camp_fail(&error, CAMP_E_GONE, 0, "%s: it is gone; list them again", path);
    assert_int_equal(strlen(error.message), CAMP_ERROR_SIZE - 1);
    assert_non_null(strstr(error.message, "xxx...xxx"));
    assert_non_null(strstr(error.message, ": it is gone; list them again"));
    for (size_t length = CAMP_ERROR_SIZE - 10; length < CAMP_ERROR_SIZE + 10; length++) {
        path[length] = '\0';
        camp_fail(&error, CAMP_E_IO, 0, "%.*s do it", (int)length, path);
        assert_non_null(memchr(error.message, 0, sizeof error.message));
        assert_string_equal(error.message + strlen(error.message) - 6, " do it");
        path[length] = 'x';
    }
}

static void an_error_message_is_not_cut_within_a_character(void **state)
{
    struct camp_error error;
    char text[CAMP_ERROR_SIZE + 400];

    (void)state;
    for (size_t i = 0; i + 1 < sizeof text; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    text[sizeof text - 1] = '\0';
    for (size_t shift = 0; shift < 3; shift++) {
        const char *dots;

        camp_fail(&error, CAMP_E_IO, 0, "%.*s%s", (int)shift, "abc", text);
        dots = strstr(error.message, "...");
        assert_int_equal((size_t)(dots - error.message) % 3, shift);
        assert_int_equal(strlen(dots + 3) % 3, 0);
        assert_memory_equal(dots + 3, text, 3);
    }
}

static void every_result_code_and_every_provenance_has_a_name(void **state)
{
    (void)state;
    for (int result = CAMP_E_FORMAT; result <= CAMP_RESET; result++)
        assert_string_not_equal(camp_result_name(result), "unknown result");
    assert_string_equal(camp_result_name(99), "unknown result");
    assert_string_equal(camp_provenance_name(CAMP_MEASURED), "measured");
    assert_string_equal(camp_provenance_name(CAMP_DERIVED), "derived");
    assert_string_equal(camp_provenance_name(-1), "unknown");
    assert_string_equal(camp_provenance_name(99), "unknown");
}

static void a_struct_is_cut_or_extended_to_the_size_that_the_caller_passes(void **state)
{
    const char value[4] = { 1, 2, 3, 4 };
    char room[8];

    (void)state;
    memset(room, 9, sizeof room);
    camp_hand_out(room, 2, value, sizeof value);
    assert_memory_equal(room, ((char[]){ 1, 2, 9, 9, 9, 9, 9, 9 }), 8);
    camp_hand_out(room, 6, value, sizeof value);
    assert_memory_equal(room, ((char[]){ 1, 2, 3, 4, 0, 0, 9, 9 }), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_error_message_keeps_all_of_its_advice),
        cmocka_unit_test(an_error_message_is_not_cut_within_a_character),
        cmocka_unit_test(every_result_code_and_every_provenance_has_a_name),
        cmocka_unit_test(a_struct_is_cut_or_extended_to_the_size_that_the_caller_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
