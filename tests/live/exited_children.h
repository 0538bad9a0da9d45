/* For tests of exited processes of the source "tasks": children that report their CPU time, and
 * what the source accounted to them. */
#pragma once

#include "cpu_steal.h"
#include "tasks_frames.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

struct folded {
    uint64_t count, measured_ns;
};

/* Returns a unique name for the children, because another run of this test may be active. */
static inline const char *own_name(const char *kind)
{
    static char name[16];
    static pid_t test;

    if (test == 0)
        test = getpid(); /* The children use the pid of the test. */
    snprintf(name, sizeof name, "%.6s-%d", kind, test);
    return name;
}

/* Returns the sums over all rows with this name. */
static inline struct folded rows_of_name(const struct frame *frame, const char *name)
{
    struct folded folded = { 0 };

    for (size_t i = 0; i < frame->entity_count; i++) {
        if (strcmp(frame->entities[i].name, name) != 0)
            continue;
        folded.count += frame->entities[i].count;
        folded.measured_ns += frame_values(frame, i)[TASKS_MEASURED];
    }
    return folded;
}

/* `word` is the CPU time that a child reads just before it exits, and `whole` its CPU clock after
 * its exit. The time in the exit record must be between `word` and `whole`, because the exit ends
 * after the record. `life` is an upper bound of the child's life in wall time. */
struct own_time {
    uint64_t word, whole, life;
};

static uint64_t *shared_ns;

static inline void report_and_exit(void)
{
    *shared_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    _exit(0);
}

/* Waits until the child has exited, but does not reap it. */
static inline struct own_time end_of(pid_t child)
{
    clockid_t clock;
    siginfo_t info;

    assert_int_equal(clock_getcpuclockid(child, &clock), 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    return (struct own_time){ *shared_ns, now_ns(clock), 0 };
}

/* Asserts that the accounted time is between own.word - lag_ns and own.whole + slack_ns. */
static inline void assert_accounted(uint64_t accounted, struct own_time own, uint64_t lag_ns,
                                    uint64_t slack_ns)
{
    print_message("accounted %.3f ms, by its own clock %.3f to %.3f, of a life of %.3f\n",
                  (double)accounted / 1e6, (double)own.word / 1e6, (double)own.whole / 1e6,
                  (double)own.life / 1e6);
    assert_at_least("accounted", accounted, own.word, lag_ns);
    assert_at_most("accounted", accounted, own.whole, slack_ns);
}

/* Works for some milliseconds without reading a clock. A reading would make the kernel update the
 * clock of this task. */
static inline void burn_blindly(void)
{
    for (volatile unsigned i = 0; i < 4000000; i++)
        ;
}

static inline uint64_t cost_of_an_exit(void)
{
    enum { CHILDREN = 5 };
    uint64_t sum = 0;

    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit(0);
        sum += end_of(child).whole;
        reap(child);
    }
    return sum / CHILDREN;
}

/* Must be called before any other function of this file. */
static inline bool exited_children_start(void)
{
    own_name("");
    shared_ns = mmap(NULL, sizeof *shared_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    return shared_ns != MAP_FAILED;
}
