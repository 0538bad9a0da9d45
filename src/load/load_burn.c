/*
 * Using the CPU by a clock.
 *
 * Reading a CPU clock costs a system call, and a loop of system calls would be a load of system
 * time. So the loop reads CLOCK_MONOTONIC, which the vDSO answers in user mode, for the CPU time
 * that remains, and only then the CPU clock again: it has advanced that far unless the thread was
 * preempted.
 */
#include "load_tools.h"

#include "counters/units.h"
#include "program/command.h"

#include <sys/resource.h>

void load_burn(clockid_t clock, uint64_t own_target, uint64_t least, uint64_t limit)
{
    for (;;) {
        uint64_t own = now_ns(clock), now = now_ns(CLOCK_MONOTONIC);
        uint64_t end = own < own_target ? now + (own_target - own) : now;

        end = end > least ? end : least;
        end = end < limit ? end : limit;
        if (now >= end || stop_requested)
            return;
        while (now_ns(CLOCK_MONOTONIC) < end)
            continue;
    }
}

long load_preemptions(void)
{
    struct rusage usage = { .ru_nivcsw = 0 };

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}
