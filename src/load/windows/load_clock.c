/*
 * CPU clocks of loads.
 *
 * The kernel charges the cycles of the time-stamp counter to threads and processes. Their rate is
 * measured here, once, beside QueryPerformanceCounter(): over RATE_NS it is exact to about 20 ppm.
 * libcamp instead divides by the rate in the registry, so the two are independent.
 *
 * Wine does not count cycles. Its GetProcessTimes() comes from the host, in steps of 10 ms.
 */
#include "load/load_tools.h"
#include "load_system.h"

#include "counters/clock.h"

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#define HAS_COUNTER true
#define READ_COUNTER() __rdtsc()
#else
#define HAS_COUNTER false
#define READ_COUNTER() 0ull
#endif

#define RATE_NS (50u * NS_PER_MS)
#define NS_PER_UNIT 100u /* of FILETIME */
#define STEP_OF_WINE_NS (20u * NS_PER_MS)
#define STEP_OF_WINDOWS_NS 31250000u /* a tick of 15.625 ms each of user and system time */

static double rate;

double cycles_per_second(void)
{
    return rate;
}

void set_cycles_per_second(double cycles)
{
    rate = cycles;
}

static void measure_rate(void)
{
    uint64_t start_ns = now_ns(CLOCK_MONOTONIC), start = READ_COUNTER(), now;

    do
        now = now_ns(CLOCK_MONOTONIC);
    while (now - start_ns < RATE_NS);
    rate = (double)(READ_COUNTER() - start) * NS_PER_S / (double)(now - start_ns);
}

bool clock_has_cycles(void)
{
    static int known = -1;
    ULONG64 cycles = 0;

    if (known < 0)
        known = HAS_COUNTER && !is_wine() && QueryThreadCycleTime(GetCurrentThread(), &cycles) &&
                cycles != 0;
    if (known == 1 && rate == 0)
        measure_rate();
    return known == 1;
}

static uint64_t ns_of_cycles(ULONG64 cycles)
{
    return (uint64_t)((double)cycles / rate * NS_PER_S);
}

static uint64_t ns_of_time(FILETIME time)
{
    return ((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) * NS_PER_UNIT;
}

struct load_split load_split(void)
{
    FILETIME start, end, kernel, user;

    if (!GetProcessTimes(GetCurrentProcess(), &start, &end, &kernel, &user))
        return (struct load_split){ .step_ns = UINT64_MAX };
    return (struct load_split){ ns_of_time(user), ns_of_time(kernel),
                                is_wine() ? STEP_OF_WINE_NS / 2 : STEP_OF_WINDOWS_NS / 2 };
}

uint64_t process_clock_ns(HANDLE process)
{
    FILETIME start, end, kernel, user;
    ULONG64 cycles = 0;

    if (clock_has_cycles())
        return QueryProcessCycleTime(process, &cycles) ? ns_of_cycles(cycles) : 0;
    return GetProcessTimes(process, &start, &end, &kernel, &user)
               ? ns_of_time(kernel) + ns_of_time(user)
               : 0;
}

uint64_t load_process_ns(void)
{
    return process_clock_ns(GetCurrentProcess());
}

uint64_t load_thread_ns(void)
{
    FILETIME start, end, kernel, user;
    ULONG64 cycles = 0;

    if (clock_has_cycles())
        return QueryThreadCycleTime(GetCurrentThread(), &cycles) ? ns_of_cycles(cycles) : 0;
    return GetThreadTimes(GetCurrentThread(), &start, &end, &kernel, &user)
               ? ns_of_time(kernel) + ns_of_time(user)
               : 0;
}

uint64_t load_clock_step_ns(void)
{
    return clock_has_cycles() ? 1 : is_wine() ? STEP_OF_WINE_NS : STEP_OF_WINDOWS_NS;
}
