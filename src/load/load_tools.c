#include "load_tools.h"

#include "counters/clock.h"
#include "program/command.h"

/* Reading a CPU clock needs a system call, and so uses system time. The inner loop therefore reads
 * CLOCK_MONOTONIC, which needs none, until the missing time has passed. The CPU clock is then read
 * again, because the thread may have been preempted. */
void load_burn(load_clock *clock, uint64_t own_target, uint64_t least, uint64_t limit)
{
    for (;;) {
        uint64_t own = clock(), now = now_ns(CLOCK_MONOTONIC);
        uint64_t end = own < own_target ? now + (own_target - own) : now;

        end = end > least ? end : least;
        end = end < limit ? end : limit;
        if (now >= end || stop_requested)
            return;
        while (now_ns(CLOCK_MONOTONIC) < end)
            continue;
    }
}
