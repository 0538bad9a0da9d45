/* For tests of taskstats: opens a session. If taskstats is not available, the test is skipped. */
#pragma once

#include "clocks.h"

#include <camp/linux.h>

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

/* Skips the test if the capability for taskstats is missing, or the kernel does not support it.
 * After any other error, the test fails. */
static inline void skip_where_refused(int result, const struct camp_error *error)
{
    if (result == CAMP_E_PERM || result == CAMP_E_NOTSUP) {
        print_message("skipped, not passed: %s\n", error->message);
        skip();
    }
    if (result != CAMP_OK)
        fail_msg("%s", error->message);
}

static inline struct camp_taskstats open_or_skip(bool listen)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    struct camp_error error;

    skip_where_refused(camp_taskstats_open(&session, &error), &error);
    if (listen)
        assert_int_equal(camp_taskstats_listen(&session, &error), CAMP_OK);
    return session;
}

static inline void reap(pid_t child)
{
    assert_int_equal(waitpid(child, NULL, 0), child);
}
