/* Clocks as witnesses of a law, and CPU time that is used on purpose. */
#ifndef CAMP_TESTS_CLOCKS_H
#define CAMP_TESTS_CLOCKS_H

#include "counters/units.h"

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

#endif
