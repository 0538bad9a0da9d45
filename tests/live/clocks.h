/* Clocks as witnesses of a law, and CPU time that is used on purpose. */
#pragma once

#include "counters/units.h"

#include <stdbool.h>

/* The kernel's tick: what the clock of a task that runs may lag. */
static inline uint64_t tick_ns(void)
{
    struct timespec tick;

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return ns_of_timespec(tick);
}

/* Reading its own CPU clock brings a task's measured time up to date. */
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

/* How long a law waits for an event that must come. Then the law fails. No law is about this time:
 * it is long enough for a machine under heavy load. */
#define PATIENCE_NS (60 * (uint64_t)NS_PER_S)

/* Sleeps a millisecond. False when that time is over. */
static inline bool wait_on(uint64_t began_ns)
{
    usleep(1000);
    return now_ns(CLOCK_MONOTONIC) - began_ns < PATIENCE_NS;
}
