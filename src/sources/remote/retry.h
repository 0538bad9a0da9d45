/* When to connect again to a server that was lost: at once, then with growing pauses. */
#pragma once

#include "counters/units.h"

#include <stdbool.h>

struct retry {
    unsigned failed_in_a_row; /* without an answer between */
    uint64_t not_before_ns;   /* CLOCK_MONOTONIC */
};

/* A failure that will not pass by itself, such as a wrong password, has a long pause: each attempt
 * is a line in the server's log. After an answer the struct is cleared. */
static inline void retry_failed(struct retry *retry, bool may_pass)
{
    const unsigned before = retry->failed_in_a_row++;
    uint64_t pause_ns = 0;

    if (!may_pass)
        pause_ns = 10 * (uint64_t)NS_PER_S;
    else if (before > 0)
        pause_ns = before < 8 ? (uint64_t)10 * NS_PER_MS << (before - 1) : NS_PER_S;
    retry->not_before_ns = now_ns(CLOCK_MONOTONIC) + pause_ns;
}
