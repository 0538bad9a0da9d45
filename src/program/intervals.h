/* The intervals of a command. Each interval ends at a deadline. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct intervals {
    uint64_t length_ns;
    uint64_t count;       /* 0 means until a stop is requested */
    uint64_t started;     /* the number of the current interval, from 1 */
    uint64_t deadline_ns; /* the end of the current interval, by CLOCK_MONOTONIC */
};

/* Starts the next interval. Deadlines are length_ns apart. If the next interval would start more
 * than length_ns late, it starts now, and the missed intervals are skipped. This happens after a
 * suspend, or if a snapshot takes too long. Returns false after `count` intervals, or if a stop
 * is requested. */
bool next_interval(struct intervals *intervals);
