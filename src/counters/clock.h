/* Clocks of POSIX systems, in ns. */
#pragma once

#include "units.h"

#include <stdint.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t ns_of_timespec(struct timespec time)
{
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline uint64_t now_ns(clockid_t clock)
{
    struct timespec time;

    return clock_gettime(clock, &time) == 0 ? ns_of_timespec(time) : 0;
}

/* Returns the unit of the times in /proc: 10 ms, unless USER_HZ differs from 100. */
static inline uint64_t proc_time_unit_ns(void)
{
    long units = sysconf(_SC_CLK_TCK);

    return units > 0 ? NS_PER_S / (uint64_t)units : NS_PER_S / 100;
}
