/* The lengths of waits: quantiles of a distribution in powers of two. */
#pragma once

#include "ledger/frame.h"

#include <camp/states.h>

/* The waits that ended in an interval. A quantile is exact to a factor of 2: within its power of
 * two the waits are taken to be spread evenly. The longest wait is exact. All are 0 if `count` is
 * 0. */
struct wait_lengths {
    uint64_t count;
    uint64_t p50_ns, p99_ns;
    uint64_t longest_ns;
    int32_t longest_tid;
    int64_t longest_wall_clock_ns; /* wall clock at the end of the longest, in ns since 1970 */
    /* Element n counts the waits of at least 2^n ns and below 2^(n+1) ns; the last one those of at
     * least 2^47 ns. */
    uint64_t counts[CAMP_WAIT_BUCKETS];
};

/* Returns the lengths of the waits that ended between two readings. `before` may be NULL.
 * `wall_clock_ns` is the wall clock less CLOCK_MONOTONIC. */
struct wait_lengths wait_lengths_since(const struct camp_wait_lengths *before,
                                       const struct camp_wait_lengths *after,
                                       int64_t wall_clock_ns);

/* Sets `count` and the quantiles from `counts` and `longest_ns`. Sets all to 0 if `counts` has no
 * wait. */
void wait_lengths_fill(struct wait_lengths *lengths);

/* Returns the lengths in the columns of a row (sources/sessions/session_lengths.h), without the
 * session of the longest. */
struct wait_lengths wait_lengths_of_row(const struct frame *frame, size_t row);

/* Adds the waits of another interval, and fills the sum. */
void wait_lengths_add(struct wait_lengths *sum, const struct wait_lengths *more);
