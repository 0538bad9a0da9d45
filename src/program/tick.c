/*
 * Finds the time of the kernel's timer tick from user space.
 *
 * Theory: a clock that holds the time of the last tick (tick_clock_ns()) changes only at a tick. A
 * thread that reads it and CLOCK_MONOTONIC continuously observes the ticks. An observation is never
 * early. It is late by the delay of the interrupt, and by any preemption of the thread.
 *
 * Ticks are one tick length apart by CLOCK_MONOTONIC. So the phase (time modulo tick length) stays
 * constant. The earliest of several observations is the most accurate.
 *
 * Limitation: only the tick of the CPU that keeps the time is observed. With skew_tick=1 on
 * Linux' command line, other CPUs have their ticks up to half a tick length later.
 */
#include "tick.h"

#include "command.h"
#include "counters/clock.h"

#include <time.h>

#define CLUSTER_NS 50000u /* Observations at most this far apart belong to the same phase. */
/* The longest wait for a tick. It is long because other tasks may use the CPU meanwhile. */
#define PATIENCE_TICKS 2500u
/* If two readings are further apart, the thread was off the CPU in between, and a tick may have
 * come at any time since the first reading. */
#define GAP_NS 100000u

static uint64_t later_by(uint64_t seen_ns, uint64_t phase_ns, uint64_t length_ns)
{
    return (seen_ns + length_ns - phase_ns % length_ns) % length_ns;
}

/* Returns the median time by which the observations are later than phase_ns. */
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

/* An observation may be late by any time, so it may also be just before the next tick. The
 * minimum would then be wrong. Instead, the phase is the start of the shortest span that has
 * half of the observations. If a slightly earlier observation exists, the phase is moved to that
 * observation. */
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

/* Waits for the next change of the coarse clock, and returns the time of the change. 0 if there
 * was no change within PATIENCE_TICKS, or a stop was requested. */
static uint64_t watch_one(uint64_t length_ns)
{
    uint64_t began = now_ns(CLOCK_MONOTONIC), before = began;
    uint64_t coarse = tick_clock_ns();

    while (before - began < PATIENCE_TICKS * length_ns && !stop_requested) {
        uint64_t changed = tick_clock_ns();
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
