/* Error messages of failed system calls on systems with POSIX. */
#include "counters/error.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_message_of_a_failed_system_call_gives_the_cause_and_advice(void **state)
{
    static const struct {
        int system_error, code;
        const char *words, *advice;
    } cases[] = {
        { ENOENT, CAMP_E_GONE, "No such file or directory", "no longer exists" },
        { ESRCH, CAMP_E_GONE, "No such process", "no longer exists" },
        { EACCES, CAMP_E_PERM, "Permission denied", "as root" },
        { EMFILE, CAMP_E_NOMEM, "Too many open files", "ulimit -n" },
        { ENFILE, CAMP_E_NOMEM, "Too many open files in system", "fs.file-max" },
        { ENOMEM, CAMP_E_NOMEM, "Cannot allocate memory", "; free some memory" },
        { EIO, CAMP_E_IO, "Input/output error", "can be read" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct camp_error error = { 0 };

        assert_int_equal(camp_fail_errno(&error, cases[i].system_error, "/proc/made"),
                         cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        assert_int_equal(error.system_error, cases[i].system_error);
        assert_non_null(strstr(error.message, "/proc/made: "));
        assert_non_null(strstr(error.message, cases[i].words));
        assert_non_null(strstr(strstr(error.message, "; "), cases[i].advice));
        assert_int_equal(camp_fail_errno(NULL, cases[i].system_error, "x"), cases[i].code);
    }
}

static void an_error_message_has_space_for_the_longest_path(void **state)
{
    struct camp_error error;
    char path[PATH_MAX], wanted[CAMP_ERROR_SIZE];

    (void)state;
    memset(path, 'x', sizeof path - 1);
    memcpy(path + sizeof path - 6, ".camp", 6);
    camp_fail_errno(&error, ENOENT, path);
    assert_true(snprintf(wanted, sizeof wanted,
                         "%s: No such file or directory; it does not exist, or no longer exists",
                         path) < (int)sizeof wanted);
    assert_string_equal(error.message, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_message_of_a_failed_system_call_gives_the_cause_and_advice),
        cmocka_unit_test(an_error_message_has_space_for_the_longest_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
