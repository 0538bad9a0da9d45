/* Error messages of Windows, names in UTF-16, and the functions that only Linux has. */
#include "counters/windows/shared.h"

#include <camp/linux.h>

#include "machine.h"

static void the_message_of_a_failed_call_gives_the_cause_and_advice(void **state)
{
    static const struct {
        uint32_t system_error;
        int code;
        const char *advice;
    } cases[] = {
        { ERROR_FILE_NOT_FOUND, CAMP_E_GONE, "no longer exists" },
        { ERROR_ACCESS_DENIED, CAMP_E_PERM, "as an administrator" },
        { ERROR_NOT_ENOUGH_MEMORY, CAMP_E_NOMEM, "free some memory" },
        { ERROR_NOT_SUPPORTED, CAMP_E_NOTSUP, "does not have it" },
        { ERROR_READ_FAULT, CAMP_E_IO, "can be read" },
    };
    struct camp_error error;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(camp_fail_windows(&error, cases[i].system_error, "it"), cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        assert_int_equal(error.system_error, cases[i].system_error);
        assert_int_equal(strncmp(error.message, "it: ", 4), 0);
        assert_non_null(strstr(error.message, cases[i].advice));
        assert_null(strpbrk(error.message, "\r\n"));
        assert_null(strstr(error.message, ".;"));
        assert_int_equal(camp_fail_windows(NULL, cases[i].system_error, "it"), cases[i].code);
    }
    camp_fail_windows(&error, 0x2fffffff, "it");
    assert_non_null(strstr(error.message, "it: error 805306367; "));
    assert_int_equal(camp_fail_status(&error, (NTSTATUS)0xC0000022, "it"), CAMP_E_PERM);
}

static void a_name_in_utf16_is_cut_between_two_characters(void **state)
{
    static const WCHAR euros[] = L"\u20ac\u20ac\u20ac";
    static const WCHAR pair[] = { 'a', 0xd83d, 0xde00, 'b' };
    static const WCHAR half_a_pair[] = { 'a', 0xd83d, 'b' };
    char name[16];

    (void)state;
    camp_utf8_of(euros, 3, name, sizeof name);
    assert_string_equal(name, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");
    for (size_t capacity = 1; capacity <= 9; capacity++) {
        camp_utf8_of(euros, 3, name, capacity);
        assert_int_equal(strlen(name), (capacity - 1) / 3 * 3);
    }
    camp_utf8_of(pair, COUNT(pair), name, sizeof name);
    assert_string_equal(name, "a\xf0\x9f\x98\x80"
                              "b");
    camp_utf8_of(half_a_pair, COUNT(half_a_pair), name, sizeof name);
    assert_string_equal(name, "a\xef\xbf\xbd"
                              "b");
    camp_utf8_of(euros, 0, name, sizeof name);
    assert_string_equal(name, "");
}

static void what_only_linux_has_is_not_supported(void **state)
{
    struct camp_taskstats taskstats = CAMP_TASKSTATS_NONE;
    struct camp_task_exit exit;
    struct camp_linux facts;
    struct camp_taskstat task;
    struct camp_error error;
    int32_t pid = 4;
    size_t n;

    (void)state;
    assert_int_equal(camp_taskstats_open(&taskstats, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "only Linux"));
    assert_int_equal(camp_taskstats_read(&taskstats, &pid, 1, &task, sizeof task, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_taskstats_listen(&taskstats, NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_taskstats_exits(&taskstats, &exit, sizeof exit, 1, &n, NULL),
                     CAMP_E_NOTSUP);
    assert_int_equal(camp_linux_read(NULL, &facts, sizeof facts, NULL), CAMP_E_NOTSUP);
    camp_taskstats_close(&taskstats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_message_of_a_failed_call_gives_the_cause_and_advice),
        cmocka_unit_test(a_name_in_utf16_is_cut_between_two_characters),
        cmocka_unit_test(what_only_linux_has_is_not_supported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
