#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tick {
    uint64_t length_ns;
    uint64_t phase_ns;  /* the time of each tick by CLOCK_MONOTONIC, modulo length_ns */
    uint64_t spread_ns; /* the median time by which ticks were observed later than phase_ns */
};

/* Returns the length of a tick, without observing ticks. 0 if it is unknown, or if the system has
 * no tick, as Wine. On Linux from clock_getres(CLOCK_MONOTONIC_COARSE), on Windows from
 * GetSystemTimeAdjustment(). */
uint64_t tick_length_ns(void);

/* Returns the time of the last tick, by a clock that changes at ticks only. */
uint64_t tick_clock_ns(void);

#define TICK_WATCH_MAX 32u

/* Observes `count` (1 to TICK_WATCH_MAX) ticks, and uses the CPU meanwhile. Returns false if no
 * tick is seen, or if a stop was requested. */
bool tick_lock(struct tick *ret, unsigned count);

/* Computes the phase from the times at which the coarse clock was seen to change. An observed
 * time may be late by any amount, but is never early. For tick_lock() and for tests. */
uint64_t tick_phase_of(const uint64_t *seen_ns, unsigned count, uint64_t length_ns,
                       uint64_t *ret_spread_ns);

uint64_t tick_after(const struct tick *tick, uint64_t time_ns);

/* Returns the number of ticks between two readings of tick_clock_ns(). */
uint64_t tick_count_between(uint64_t coarse_before_ns, uint64_t coarse_after_ns,
                            uint64_t length_ns);
