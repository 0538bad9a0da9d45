/* Clocks for comparison with measured times, and a function that uses CPU time. */
#pragma once

#include "counters/clock.h"

#include <stdbool.h>

/* Returns the length of a tick of the kernel. The clock of a running task may be late by a tick. */
static inline uint64_t tick_ns(void)
{
    struct timespec tick;

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return ns_of_timespec(tick);
}

/* Uses CPU time until `clock` has advanced by `ns`. If a task reads its own CPU clock, the kernel
 * updates its measured time. */
static inline void burn(clockid_t clock, uint64_t ns)
{
    uint64_t end = now_ns(clock) + ns;

    while (now_ns(clock) < end)
        continue;
}

static inline uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

/* A test waits for an event for at most this time, and then fails. The time is long enough for a
 * machine under heavy load. */
#define PATIENCE_NS (60 * (uint64_t)NS_PER_S)

/* Sleeps for a millisecond. Returns false if PATIENCE_NS have passed since began_ns. */
static inline bool wait_on(uint64_t began_ns)
{
    usleep(1000);
    return now_ns(CLOCK_MONOTONIC) - began_ns < PATIENCE_NS;
}
