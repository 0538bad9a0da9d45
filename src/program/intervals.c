#include "intervals.h"

#include "command.h"
#include "counters/clock.h"

#include <errno.h>
#include <time.h>

bool next_interval(struct intervals *intervals)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);

    if (stop_requested || (intervals->count > 0 && intervals->started == intervals->count))
        return false;
    if (intervals->started == 0 || now > intervals->deadline_ns + intervals->length_ns)
        intervals->deadline_ns = now;
    intervals->deadline_ns += intervals->length_ns;
    intervals->started++;
    return true;
}

bool sleep_until(uint64_t time_ns)
{
    struct timespec time = { .tv_sec = (time_t)(time_ns / 1000000000),
                             .tv_nsec = (long)(time_ns % 1000000000) };

    while (!stop_requested) {
        int failed = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);

        if (failed == 0)
            return true;
        if (failed != EINTR)
            return false;
    }
    return false;
}
