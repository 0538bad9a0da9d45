/* The intervals of a command, each with a deadline, up to a count or to a requested stop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct intervals {
    uint64_t length_ns;
    uint64_t count;       /* 0: until a stop is requested */
    uint64_t started;     /* the number of the current interval, from 1 */
    uint64_t deadline_ns; /* end of the current interval, CLOCK_MONOTONIC */
};

/* Starts the next interval. Deadlines are length_ns apart; an interval that would start more than
 * length_ns late (after a suspend, or where a snapshot takes longer) starts now, and skipped
 * intervals are not made up for. The first interval starts at the first call. False: there were
 * `count`, or a stop is requested. */
bool next_interval(struct intervals *intervals);
