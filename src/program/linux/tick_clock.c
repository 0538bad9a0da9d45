/* CLOCK_MONOTONIC_COARSE holds the time of the last tick (timekeeping_advance(), called by
 * tick_do_update_jiffies64()). Its resolution is the length of a tick (KTIME_LOW_RES, 1/HZ). Ticks
 * are hrtimers on CLOCK_MONOTONIC, so their phase stays constant even while NTP changes the speed
 * of the clock. */
#include "program/tick.h"

#include "counters/clock.h"

uint64_t tick_length_ns(void)
{
    struct timespec resolution;

    if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0)
        return 0;
    return ns_of_timespec(resolution);
}

uint64_t tick_clock_ns(void)
{
    return now_ns(CLOCK_MONOTONIC_COARSE);
}
