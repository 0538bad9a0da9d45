/* The kernel's tick: its length, and its phase. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tick {
    uint64_t length_ns;
    uint64_t phase_ns;  /* offset of the tick from multiples of length_ns of CLOCK_MONOTONIC */
    uint64_t spread_ns; /* half of the observed ticks were at most this late after phase_ns */
};

/* Reads the length only, without observing ticks. 0 if the kernel does not report it. */
uint64_t tick_length_ns(void);

#define TICK_WATCH_MAX 32u

/* Observes `count` (1 to TICK_WATCH_MAX) ticks while using the CPU. False when no tick is visible,
 * or a stop was requested. */
bool tick_lock(struct tick *ret, unsigned count);

/* Computes the phase from the times of observed changes of the coarse clock, for tick_lock() and
 * for tests. Each may be late by any amount, none is early. */
uint64_t tick_phase_of(const uint64_t *seen_ns, unsigned count, uint64_t length_ns,
                       uint64_t *ret_spread_ns);

/* The first tick later than `time_ns`. */
uint64_t tick_after(const struct tick *tick, uint64_t time_ns);

/* The number of ticks between two readings of CLOCK_MONOTONIC_COARSE. */
uint64_t tick_count_between(uint64_t coarse_before_ns, uint64_t coarse_after_ns,
                            uint64_t length_ns);
