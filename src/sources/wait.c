#include "source.h"

#include "counters/units.h"

#include <errno.h>
#include <time.h>

/* A signal interrupts a sleep, but another thread that sets *stop does not, as Python's may. */
#define STOP_INTERVAL_NS (50 * NS_PER_MS)

uint64_t source_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

_Thread_local bool (*source_interrupted)(void);

_Thread_local bool (*source_ends_early)(void);

bool source_is_over(void)
{
    return source_ends_early != NULL && source_ends_early();
}

static bool is_over(const volatile sig_atomic_t *stop)
{
    return *stop || (source_interrupted != NULL && source_interrupted());
}

/* Sleeps until this time, or for a shorter time if the thread should test *stop again before.
 * Returns false if the wait is over. */
static bool sleep_until(uint64_t until_ns, const volatile sig_atomic_t *stop)
{
    const uint64_t most_ns = source_clock_ns(CLOCK_MONOTONIC) + STOP_INTERVAL_NS;
    const uint64_t end_ns = source_interrupted != NULL && most_ns < until_ns ? most_ns : until_ns;
    const struct timespec end = { (time_t)(end_ns / NS_PER_S), (long)(end_ns % NS_PER_S) };

    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        return !is_over(stop);
    return !*stop;
}

bool source_wait(uint64_t deadline_ns, uint64_t slice_ns, const volatile sig_atomic_t *stop)
{
    const uint64_t now_ns = source_clock_ns(CLOCK_MONOTONIC);
    uint64_t until_ns;

    if (now_ns >= deadline_ns || is_over(stop))
        return false;
    until_ns = deadline_ns - now_ns > slice_ns ? now_ns + slice_ns : deadline_ns;
    do {
        if (!sleep_until(until_ns, stop))
            return false;
    } while (source_clock_ns(CLOCK_MONOTONIC) < until_ns);
    return until_ns < deadline_ns;
}

void source_wait_replay(uint64_t *due_ns, const struct frame *frame, double speed,
                        const volatile sig_atomic_t *stop)
{
    if (speed <= 0)
        return;
    if (*due_ns == 0)
        *due_ns = source_clock_ns(CLOCK_MONOTONIC);
    else
        *due_ns += (uint64_t)((double)(frame->end_ns - frame->start_ns) / speed);
    while (source_wait(*due_ns, UINT64_MAX, stop))
        ;
}
