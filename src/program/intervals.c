#include "intervals.h"

#include "command.h"
#include "counters/clock.h"

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
