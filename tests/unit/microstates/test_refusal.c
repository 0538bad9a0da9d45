/* The results of sessions that the kernel refuses for lack of a resource. */
#include "microstates/linux/refusal.h"

#include <camp/camp.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static struct rlimit before;

static int remember_limit(void **state)
{
    (void)state;
    return getrlimit(RLIMIT_NOFILE, &before);
}

static int restore_limit(void **state)
{
    (void)state;
    return setrlimit(RLIMIT_NOFILE, &before);
}

static void a_limit_of_open_files_that_is_too_low_is_a_lack_of_descriptors(void **state)
{
    const struct rlimit low = { .rlim_cur = 64, .rlim_max = before.rlim_max };
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_int_equal(camp_refused_by_limit(CAMP_E_NOTSUP, 65, "microstates", &error), CAMP_E_NOMEM);
    assert_int_equal(error.code, CAMP_E_NOMEM);
    assert_int_equal(error.system_error, EMFILE);
    assert_non_null(strstr(error.message, "and the limit is 64: run ulimit -n "));
    assert_int_equal(camp_refused_by_limit(CAMP_E_NOTSUP, 1, "microstates", NULL), CAMP_E_NOTSUP);
    assert_int_equal(camp_refused_by_limit(CAMP_E_PERM, 65, "microstates", NULL), CAMP_E_PERM);
}

static void programs_without_memory_or_descriptors_are_not_called_unsupported(void **state)
{
    static const int lacking[] = { EMFILE, ENFILE, ENOMEM };
    struct camp_error error = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        assert_int_equal(camp_refused_programs(-lacking[i], "microstates", "", &error),
                         CAMP_E_NOMEM);
        assert_int_equal(error.code, CAMP_E_NOMEM);
        assert_int_equal(error.system_error, lacking[i]);
    }
    assert_int_equal(camp_refused_programs(-E2BIG, "microstates", "", &error), CAMP_E_NOTSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_limit_of_open_files_that_is_too_low_is_a_lack_of_descriptors, remember_limit,
            restore_limit),
        cmocka_unit_test(programs_without_memory_or_descriptors_are_not_called_unsupported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
