/* When to connect again to a database that was lost: at once, then with growing pauses. */
#ifndef CAMP_SOURCES_REMOTE_RETRY_H
#define CAMP_SOURCES_REMOTE_RETRY_H

#include "counters/units.h"

#include <stdbool.h>

/* The pause before the next try, after so many failures without an answer between. Who was refused
 * waits for long: each try is a line in the server's log. */
static inline uint64_t retry_pause_ns(unsigned failed_in_a_row, bool may_pass)
{
    if (!may_pass)
        return 10 * (uint64_t)NS_PER_S;
    if (failed_in_a_row <= 1)
        return 0;
    return failed_in_a_row < 9 ? (uint64_t)10 * NS_PER_MS << (failed_in_a_row - 2) : NS_PER_S;
}

#endif
