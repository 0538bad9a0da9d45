/* Shared by tests of rows of sessions that are divided: by blocker, or by wait event. */
#pragma once

#include "sources/sessions/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct session_frame sessions;
static struct blocker_samples samples;

static bool is_lock(const struct session_kind *kind)
{
    return strcmp(kind->texts[SESSION_CLASS], "Lock") == 0;
}

/* Starts an interval of `sessions`, with `samples` of their blockers. */
static void start_sessions(const struct session_plan *plan)
{
    assert_int_equal(session_frame_init(&sessions, plan, NULL), CAMP_OK);
    session_frame_begin(&sessions, 1, 1001, 5);
    samples = (struct blocker_samples){ .longest_ns = 1000 };
    sessions.blockers = &samples;
}

static int end(void **state)
{
    (void)state;
    session_frame_release(&sessions);
    blocker_samples_release(&samples);
    return 0;
}

static uint64_t value(size_t row, const char *name)
{
    const size_t column = schema_find_column(&sessions.schema, name);

    if (column == SIZE_MAX)
        fail_msg("there is no column %s", name);
    return frame_values(&sessions.frame, row)[column];
}
