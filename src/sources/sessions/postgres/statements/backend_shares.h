/*
 * How the time of a backend in an interval is divided by statement. The kernel charges time to the
 * statement that the backend has when it leaves a CPU (microstates/backends.h). The shares add up
 * exactly to the growth of the backend's account, whatever the kernel had no place for: the rest is
 * of other statements.
 */
#pragma once

#include "microstates/backends.h"

#include <stdbool.h>

/* Time in an event and activity: of a wait, or of BACKEND_EVENT_CPU, BACKEND_EVENT_RUN_QUEUE or
 * BACKEND_EVENT_THROTTLED. */
struct backend_part {
    uint64_t statement; /* 0 for none */
    bool is_other;      /* of statements that the kernel had no place for */
    uint32_t event, activity;
    uint64_t ns;
};

/* at most the shares, the time in no share yet, and a rest for each wait */
#define BACKEND_PARTS_MAX (BACKEND_SHARES + 6 + BACKEND_WAITS_MAX + 1)

bool backend_part_is_wait(const struct backend_part *part);

/* Fills ret[BACKEND_PARTS_MAX], and returns how many parts there are, in no order. `since` is the
 * growth of the account (backend_accounts_since()). `before` is NULL for a new backend. The caller
 * may have set now->statement to the statement that now runs; it gets the time that is in no share
 * yet, and the next call, for which this `now` is `before`, takes that into account. */
size_t backend_parts_since(const struct backend_statements *now,
                           const struct backend_statements *before,
                           const struct backend_account *since,
                           struct backend_part ret[BACKEND_PARTS_MAX]);
