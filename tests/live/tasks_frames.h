/* What the laws of the source "tasks" share: the source or a skip where it is not permitted,
 * and its frames. */
#ifndef CAMP_TESTS_TASKS_FRAMES_H
#define CAMP_TESTS_TASKS_FRAMES_H

#include "clocks.h"
#include "sources/source.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const volatile sig_atomic_t never_stop;

/* Taskstats needs a capability that CI and developers hold as root: without it these laws cannot be
 * tested, which is said aloud and is no pass. */
static inline struct source *open_taskstats(void)
{
    struct camp_error error = { 0 };
    struct source *source = NULL;
    enum tasks_tier tier;
    int r = tasks_source_open(TASKS_TASKSTATS, &never_stop, &source, &tier, &error);

    if (r == CAMP_E_PERM) {
        fprintf(stderr, "SKIPPED, needs CAP_NET_ADMIN: %s\n", error.message);
        skip();
    }
    assert_int_equal(r, CAMP_OK);
    assert_int_equal(tier, TASKS_TASKSTATS);
    return source;
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

static inline size_t row_of(const struct frame *frame, pid_t pid)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (frame->entities[i].id == pid)
            return i;
    }
    return SIZE_MAX;
}

static inline void reap(pid_t child)
{
    assert_int_equal(waitpid(child, NULL, 0), child);
}

#endif
