/* For tests of the source "tasks": opens the source and reads its frames. If the source is not
 * available, the test is skipped. */
#pragma once

#include "sources/source.h"
#include "taskstats_session.h"

#include <signal.h>
#include <sys/prctl.h>

static const volatile sig_atomic_t never_stop;

static inline struct source *open_tier(enum tasks_tier wanted)
{
    struct camp_error error = { 0 };
    struct source *source = NULL;
    enum tasks_tier tier;

    skip_where_refused(tasks_source_open(wanted, &never_stop, &source, &tier, &error), &error);
    assert_int_equal(tier, wanted);
    return source;
}

static inline struct source *open_taskstats(void)
{
    return open_tier(TASKS_TASKSTATS);
}

static inline const struct frame *next_frame(struct source *source, uint64_t after_ns)
{
    struct camp_error error = { 0 };
    const struct frame *frame;
    int r = source->next(source, now_ns(CLOCK_MONOTONIC) + after_ns, &frame, &error);

    if (r != CAMP_OK)
        fail_msg("%s", error.message);
    return frame;
}

/* Forks a child that is killed when this program ends, even if the test is skipped or fails. */
static inline pid_t fork_child(void)
{
    const pid_t parent = getpid();
    pid_t child = fork();

    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    return child;
}

static inline size_t row_of(const struct frame *frame, pid_t pid)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].id == pid)
            return i;
    }
    return SIZE_MAX;
}
