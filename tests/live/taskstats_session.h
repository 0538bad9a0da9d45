/* What the laws of taskstats share: a session, or a skip where it is not permitted. */
#ifndef CAMP_TESTS_TASKSTATS_SESSION_H
#define CAMP_TESTS_TASKSTATS_SESSION_H

#include "clocks.h"

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
