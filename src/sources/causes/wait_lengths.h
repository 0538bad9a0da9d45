/* The lengths of waits: quantiles of a distribution in powers of two. */
#pragma once

#include <camp/states.h>

/* The waits that ended in an interval. A quantile is exact to a factor of 2: within its power of
 * two the waits are taken to be spread evenly. The longest wait is exact. All are 0 if `count` is
 * 0. */
struct wait_lengths {
    uint64_t count;
    uint64_t p50_ns, p99_ns;
    uint64_t longest_ns;
    int32_t longest_tid;
};

/* Returns the lengths of the waits that ended between two readings. `before` may be NULL. */
struct wait_lengths wait_lengths_since(const struct camp_wait_lengths *before,
                                       const struct camp_wait_lengths *after);
