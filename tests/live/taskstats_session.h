/* What the laws of taskstats share: a session, or a skip where it is not permitted; CPU time that
 * is used on purpose. */
#ifndef CAMP_TESTS_TASKSTATS_SESSION_H
#define CAMP_TESTS_TASKSTATS_SESSION_H

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define NS_PER_MS 1000000u

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Reading its own CPU clock brings a task's measured time up to date. */
static inline void burn(clockid_t clock, uint64_t ns)
{
    uint64_t end = clock_ns(clock) + ns;

    while (clock_ns(clock) < end)
        continue;
}

static inline void sleep_ms(unsigned ms)
{
    struct timespec time = { 0, (long)ms * 1000000 };

    nanosleep(&time, NULL);
}

static inline struct camp_taskstats open_or_skip(bool listen)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    struct camp_error error;
    int result = camp_taskstats_open(&session, &error);

    if (result == CAMP_E_PERM || result == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error.message);
        skip();
    }
    assert_int_equal(result, CAMP_OK);
    if (listen)
        assert_int_equal(camp_taskstats_listen(&session, &error), CAMP_OK);
    return session;
}

static inline void wait_for(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
}

#endif
