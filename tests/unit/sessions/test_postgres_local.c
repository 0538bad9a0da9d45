/* Whether a pid and a start time belong to a process of this machine, tested with the process of
 * the test. */
#include "counters/clock.h"
#include "sources/sessions/postgres/postgres_registry.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define S_US 1000000

static int64_t own_start_us(void)
{
    struct camp_process self;
    struct timespec wall, boot;

    assert_int_equal(camp_process_identify(NULL, getpid(), &self, sizeof self, NULL), CAMP_OK);
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (wall.tv_sec - boot.tv_sec) * S_US + (wall.tv_nsec - boot.tv_nsec) / 1000 +
           (int64_t)(self.start * proc_time_unit_ns() / 1000);
}

static void a_process_matches_a_session_that_started_up_to_ten_seconds_later(void **state)
{
    const int64_t began_us = own_start_us();

    (void)state;
    assert_true(postgres_is_process(getpid(), began_us));
    assert_true(postgres_is_process(getpid(), began_us + 9 * S_US));
    assert_false(postgres_is_process(getpid(), began_us + 11 * S_US));
}

static void a_process_matches_a_session_that_started_up_to_two_seconds_earlier(void **state)
{
    const int64_t began_us = own_start_us();

    (void)state;
    assert_true(postgres_is_process(getpid(), began_us - 1 * S_US));
    assert_false(postgres_is_process(getpid(), began_us - 3 * S_US));
}

static void a_session_without_a_pid_matches_no_process(void **state)
{
    (void)state;
    assert_false(postgres_is_process(0, own_start_us()));
    assert_false(postgres_is_process(-1, own_start_us()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_matches_a_session_that_started_up_to_ten_seconds_later),
        cmocka_unit_test(a_process_matches_a_session_that_started_up_to_two_seconds_earlier),
        cmocka_unit_test(a_session_without_a_pid_matches_no_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
