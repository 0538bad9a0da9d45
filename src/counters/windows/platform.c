/* The clock of the system, and how to wait. */
#include "../platform.h"
#include "../units.h"
#include "native.h"

/* QueryPerformanceCounter() goes on at the same rate on all CPUs, also if the clock is set. It
 * counts while the system sleeps, unlike CLOCK_MONOTONIC of Linux. */
uint64_t camp_now_ns(void)
{
    LARGE_INTEGER counter, frequency;
    uint64_t count, hz;

    /* Since Windows XP, neither function fails. */
    QueryPerformanceCounter(&counter);
    QueryPerformanceFrequency(&frequency);
    count = (uint64_t)counter.QuadPart;
    hz = (uint64_t)frequency.QuadPart;
    return hz == 0 ? 0 : count / hz * NS_PER_S + count % hz * NS_PER_S / hz;
}

/* No signal ends the wait, because Windows has no signals. */
void camp_sleep_ms(unsigned interval_ms)
{
    Sleep(interval_ms);
}
