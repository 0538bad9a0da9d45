/*
 * The time of the kernel's tick, found from outside.
 *
 * Theory: CLOCK_MONOTONIC_COARSE is the time as of the last tick (timekeeping_advance(), from
 * tick_do_update_jiffies64()), so its value changes at a tick, and at no other time. A thread that
 * reads it and CLOCK_MONOTONIC continuously observes the tick: never early, and late by the
 * delivery of the interrupt and by any preemption. Ticks are hrtimers on CLOCK_MONOTONIC, one
 * length apart to the nanosecond, so the phase (modulo the length) is constant while NTP changes
 * that clock's speed; and the earliest of several observations is the best.
 *
 * The length of a tick is clock_getres(CLOCK_MONOTONIC_COARSE) (KTIME_LOW_RES, 1/HZ).
 *
 * Not covered: the change shows the tick of the timekeeping CPU. With skew_tick=1 on the kernel's
 * command line the ticks of the other CPUs come up to half a length later.
 */
#include "tick.h"

#include "command.h"
#include "counters/units.h"

#include <time.h>

#define CLUSTER_NS 50000u    /* observations this close together have the same phase */
#define PATIENCE_TICKS 2500u /* longest wait for a change: other tasks may keep the CPU */
#define GAP_NS                                                                                     \
    100000u /* longer between two readings: the thread was off the CPU, and                        \
             * observed nothing */

uint64_t tick_length_ns(void)
{
    struct timespec resolution;

    if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0)
        return 0;
    return ns_of_timespec(resolution);
}

static uint64_t later_by(uint64_t seen_ns, uint64_t phase_ns, uint64_t length_ns)
{
    return (seen_ns + length_ns - phase_ns % length_ns) % length_ns;
}

/* The median lateness of the observations, relative to this phase. */
static uint64_t half_within(const uint64_t *seen_ns, unsigned count, uint64_t length_ns,
                            uint64_t phase_ns)
{
    uint64_t sorted[TICK_WATCH_MAX];
    unsigned i, at;

    for (i = 0; i < count; i++) {
        uint64_t later = later_by(seen_ns[i], phase_ns, length_ns);

        for (at = i; at > 0 && sorted[at - 1] > later; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = later;
    }
    return sorted[count / 2];
}

/* Late observations are anywhere after the tick, so also just before the next one, which would
 * mislead a minimum. The shortest span that contains half of all has the true phase, and the
 * earliest observation may be shortly before it. */
uint64_t tick_phase_of(const uint64_t *seen_ns, unsigned count, uint64_t length_ns,
                       uint64_t *ret_spread_ns)
{
    uint64_t shortest = UINT64_MAX, phase = 0, earliest = 0;
    unsigned i;

    *ret_spread_ns = 0;
    if (count == 0 || count > TICK_WATCH_MAX)
        return 0;
    for (i = 0; i < count; i++) {
        uint64_t half = half_within(seen_ns, count, length_ns, seen_ns[i]);

        if (half < shortest) {
            shortest = half;
            phase = seen_ns[i] % length_ns;
        }
    }
    for (i = 0; i < count; i++) {
        uint64_t before = later_by(phase, seen_ns[i], length_ns);

        if (before <= CLUSTER_NS && before > earliest)
            earliest = before;
    }
    phase = (phase + length_ns - earliest) % length_ns;
    *ret_spread_ns = half_within(seen_ns, count, length_ns, phase);
    return phase;
}

/* Waits for one change of the coarse clock, and returns its time. 0: none came in time. */
static uint64_t watch_one(uint64_t length_ns)
{
    uint64_t began = now_ns(CLOCK_MONOTONIC), before = began;
    uint64_t coarse = now_ns(CLOCK_MONOTONIC_COARSE);

    while (before - began < PATIENCE_TICKS * length_ns && !stop_requested) {
        uint64_t changed = now_ns(CLOCK_MONOTONIC_COARSE);
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (changed != coarse && now - before <= GAP_NS)
            return now;
        coarse = changed;
        before = now;
    }
    return 0;
}

bool tick_lock(struct tick *ret, unsigned count)
{
    uint64_t seen_ns[TICK_WATCH_MAX];
    uint64_t length_ns = tick_length_ns();
    unsigned i;

    if (length_ns == 0 || count == 0 || count > TICK_WATCH_MAX)
        return false;
    for (i = 0; i < count && !stop_requested; i++) {
        seen_ns[i] = watch_one(length_ns);
        if (seen_ns[i] == 0)
            return false;
    }
    if (i < count)
        return false;
    ret->length_ns = length_ns;
    ret->phase_ns = tick_phase_of(seen_ns, i, length_ns, &ret->spread_ns);
    return true;
}

uint64_t tick_after(const struct tick *tick, uint64_t time_ns)
{
    uint64_t since = (time_ns + tick->length_ns - tick->phase_ns) % tick->length_ns;

    return time_ns - since + tick->length_ns;
}

uint64_t tick_count_between(uint64_t coarse_before_ns, uint64_t coarse_after_ns, uint64_t length_ns)
{
    if (length_ns == 0 || coarse_after_ns <= coarse_before_ns)
        return 0;
    return (coarse_after_ns - coarse_before_ns + length_ns / 2) / length_ns;
}
