/*
 * The clock interrupt charges CPU time when the tick count grows, so GetTickCount64() changes only
 * at a tick that samples. A program may ask for more frequent interrupts (timeBeginPeriod()), but
 * these neither charge time nor change the count. The length of a tick is the largest period of the
 * clock.
 *
 * Wine has no tick: its count is the time of its server.
 */
#include "imitation.h"
#include "program/tick.h"
#include "windows.h"

#include "counters/units.h"

#define NS_PER_UNIT 100u /* of GetSystemTimeAdjustment() */

uint64_t tick_length_ns(void)
{
    DWORD adjustment, increment;
    BOOL is_disabled;

    if (is_wine() || !GetSystemTimeAdjustment(&adjustment, &increment, &is_disabled))
        return 0;
    return (uint64_t)increment * NS_PER_UNIT;
}

uint64_t tick_clock_ns(void)
{
    return GetTickCount64() * NS_PER_MS;
}
