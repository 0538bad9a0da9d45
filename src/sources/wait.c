#include "source.h"

#include "counters/units.h"

#include <errno.h>
#include <time.h>

uint64_t source_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

_Thread_local bool (*source_interrupted)(void);

static bool is_over(const volatile sig_atomic_t *stop)
{
    return *stop || (source_interrupted != NULL && source_interrupted());
}

bool source_wait(uint64_t deadline_ns, uint64_t slice_ns, const volatile sig_atomic_t *stop)
{
    const uint64_t now_ns = source_clock_ns(CLOCK_MONOTONIC);
    struct timespec until;
    uint64_t until_ns;

    if (now_ns >= deadline_ns || is_over(stop))
        return false;
    until_ns = deadline_ns - now_ns > slice_ns ? now_ns + slice_ns : deadline_ns;
    until = (struct timespec){ (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        if (is_over(stop))
            return false;
    }
    return until_ns < deadline_ns;
}
