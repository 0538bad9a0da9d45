#include "source.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S 1000000000u

uint64_t source_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

bool source_wait(uint64_t deadline_ns, uint64_t slice_ns, const volatile sig_atomic_t *stop)
{
    const uint64_t now_ns = source_clock_ns(CLOCK_MONOTONIC);
    struct timespec until;
    uint64_t until_ns;

    if (*stop || now_ns >= deadline_ns)
        return false;
    until_ns = deadline_ns - now_ns > slice_ns ? now_ns + slice_ns : deadline_ns;
    until = (struct timespec){ (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        if (*stop)
            return false;
    }
    return until_ns < deadline_ns;
}
