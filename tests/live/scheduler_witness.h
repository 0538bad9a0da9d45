/*
 * The scheduler's counts of the current thread: CPU time and run delay. Tests compare microstates
 * with them. A switch costs time, which this file measures on this machine during the test.
 *
 * The scheduler reads its clock before it chooses the next thread, and microstates read their clock
 * afterwards. So at each switch, a short time moves from the CPU to the run queue or a sleep, or
 * back.
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

/* Returns how long this thread was in the run queue, or 0 if the kernel does not count it. */
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

/* The times of a thread between begin_stretch() and end_stretch(). The wall clock is read inside
 * the other clocks. So the thread slept for at most wall_ns, and for at least least_asleep_ns(). */
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

#define HANDOVERS 500
#define WAKEUPS 20

struct partner {
    size_t cpu;
    int ping[2], pong[2];
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

/* Returns the CPU time of one switch. Two threads on one CPU pass a byte back and forth. The time
 * includes two pipe calls and the whole switch, but no time of other tasks. */
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

/* Measures the delays of wakeups, without the run delay that the scheduler counts. The delays
 * include interrupts, stolen time and the end of idle. */
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

/* Returns the allowed difference between two measurements that read their clocks at different
 * points of a switch. It is the sum of a mean wakeup for each sleep, two switches for each
 * preemption, and one longest wakeup. */
static inline uint64_t switches_tolerance(uint64_t sleeps, uint64_t preemptions)
{
    const struct wakeup wakeup = measure_wakeups();

    return sleeps * wakeup.mean_ns + 2 * preemptions * switch_cost_ns() + wakeup.longest_ns;
}
