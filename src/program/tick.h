/* The kernel's tick: how long it is, and when it comes. */
#ifndef CAMP_PROGRAM_TICK_H
#define CAMP_PROGRAM_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick {
    uint64_t length_ns;
    uint64_t phase_ns;  /* seen so long after a multiple of length_ns of CLOCK_MONOTONIC */
    uint64_t spread_ns; /* of the ticks watched: how much later than phase_ns half of them came */
};

/* Length only, without watching. 0 where the kernel does not say. */
uint64_t tick_length_ns(void);

#define TICK_WATCH_MAX 32u

/* Watches `count` (1 to TICK_WATCH_MAX) ticks come, using the CPU meanwhile. False when there is no
 * tick to be seen, or a stop was requested. */
bool tick_lock(struct tick *ret, unsigned count);

/* The same from times at which the coarse clock was seen to change: the pure part. Each may be
 * late by any amount, none is early. */
uint64_t tick_phase_of(const uint64_t *seen_ns, unsigned count, uint64_t length_ns,
                       uint64_t *ret_spread_ns);

/* The first tick later than `time_ns`. */
uint64_t tick_after(const struct tick *tick, uint64_t time_ns);

/* How many ticks lie between two readings of CLOCK_MONOTONIC_COARSE. */
uint64_t tick_count_between(uint64_t coarse_before_ns, uint64_t coarse_after_ns,
                            uint64_t length_ns);

#endif
