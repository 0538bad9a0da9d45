/*
 * The scheduler's counts of the current thread: its CPU clock, its run-queue time, and the cost of
 * a switch on this machine now. Laws compare microstates with them.
 *
 * The scheduler and microstates read their clocks at different points of a switch: the scheduler
 * before it chooses the next thread, microstates after that. So each switch moves a short time
 * between the CPU and the run queue or a sleep. That time is measured in the same run as the law.
 */
#pragma once

#include "clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

/* Returns how long this thread was runnable but not running; 0 if the kernel does not count it. */
static inline uint64_t own_run_delay_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    unsigned long long delay = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %llu", &delay) != 1)
        delay = 0;
    fclose(file);
    return delay;
}

/* ------------------------------------------------------------------------------- A stretch -- */

/* The times of a thread between begin_stretch() and end_stretch(). The wall clock is read between
 * the other two clocks, so the thread slept at most wall_ns, and at least least_asleep_ns(). */
struct stretch {
    uint64_t wall_ns, cpu_ns, run_delay_ns;
};

static inline void begin_stretch(struct stretch *stretch)
{
    stretch->run_delay_ns = own_run_delay_ns();
    stretch->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    stretch->wall_ns = now_ns(CLOCK_MONOTONIC);
}

static inline void end_stretch(struct stretch *stretch)
{
    stretch->wall_ns = now_ns(CLOCK_MONOTONIC) - stretch->wall_ns;
    stretch->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - stretch->cpu_ns;
    stretch->run_delay_ns = own_run_delay_ns() - stretch->run_delay_ns;
}

static inline uint64_t least_asleep_ns(const struct stretch *stretch)
{
    return less(stretch->wall_ns, stretch->cpu_ns + stretch->run_delay_ns);
}

/* -------------------------------------------------------------------------------- A switch -- */

#define HANDOVERS 500 /* samples of a switch */
#define WAKEUPS 20    /* samples of a wakeup */

struct partner {
    size_t cpu;
    int ping[2], pong[2]; /* pipes */
};

static inline void run_only_on(size_t cpu)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof only, &only);
}

static void *hand_back(void *argument)
{
    struct partner *partner = argument;
    char byte;

    run_only_on(partner->cpu);
    while (read(partner->ping[0], &byte, 1) == 1 && write(partner->pong[1], &byte, 1) == 1)
        continue;
    return NULL;
}

/* Measures the CPU time of one switch: two threads pass a byte back and forth on one CPU. It
 * includes two calls on a pipe and the whole switch, but no time of other tasks. */
static inline uint64_t switch_cost_ns(void)
{
    struct partner partner;
    pthread_t thread;
    cpu_set_t before;
    uint64_t used;
    char byte = 0;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_true(pipe(partner.ping) == 0 && pipe(partner.pong) == 0);
    partner.cpu = (size_t)sched_getcpu();
    assert_int_equal(pthread_create(&thread, NULL, hand_back, &partner), 0);
    run_only_on(partner.cpu);
    used = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < HANDOVERS; i++) {
        assert_int_equal(write(partner.ping[1], &byte, 1), 1);
        assert_int_equal(read(partner.pong[0], &byte, 1), 1);
    }
    used = now_ns(CLOCK_PROCESS_CPUTIME_ID) - used;
    close(partner.ping[1]);
    pthread_join(thread, NULL);
    sched_setaffinity(0, sizeof before, &before);
    close(partner.ping[0]);
    close(partner.pong[0]);
    close(partner.pong[1]);
    return used / (2 * HANDOVERS);
}

struct wakeup {
    uint64_t mean_ns, longest_ns;
};

/* Measures wakeups: the delay from the time at which a thread asked to be woken until it runs,
 * minus its run-queue time by the scheduler. It includes interrupts, stolen time and the time to
 * leave idle. */
static inline struct wakeup measure_wakeups(void)
{
    struct wakeup wakeup = { 0, 0 };

    for (int i = 0; i < WAKEUPS; i++) {
        uint64_t delay = own_run_delay_ns(), due = now_ns(CLOCK_MONOTONIC) + 100 * NS_PER_US, late;
        struct timespec time = { (time_t)(due / NS_PER_S), (long)(due % NS_PER_S) };

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        late = now_ns(CLOCK_MONOTONIC) - due;
        late = less(late, own_run_delay_ns() - delay);
        wakeup.mean_ns += late / WAKEUPS;
        wakeup.longest_ns = late > wakeup.longest_ns ? late : wakeup.longest_ns;
    }
    return wakeup;
}

/* Returns the tolerance between two measurements that read their clocks at different points of a
 * switch, for a thread with this number of sleeps and preemptions: a wakeup for each sleep, two
 * switches for each preemption, and once the longest wakeup. */
static inline uint64_t switches_tolerance(uint64_t sleeps, uint64_t preemptions)
{
    const struct wakeup wakeup = measure_wakeups();

    return sleeps * wakeup.mean_ns + 2 * preemptions * switch_cost_ns() + wakeup.longest_ns;
}
