/*
 * The differences of the backends' accounts between two readings. For a backend that started since
 * the last reading, the difference is its whole account. An ended backend appears in one more
 * reading. Pid and start time identify a backend, because pids are reused.
 */
#pragma once

#include "microstates/backends.h"

#include <stdbool.h>

struct backend_accounts {
    /* [count] of the last reading, in ascending order of pid and start */
    struct backend_account *now;
    struct backend_account *before; /* [before_count] of the reading before the last reading */
    size_t count, before_count;
    size_t capacity;
};

/* Frees the accounts. An all-zero struct has no readings. */
void backend_accounts_release(struct backend_accounts *accounts);

/* Reads the accounts. CAMP_E_NOMEM, or a failure of backends_read(). */
int backend_accounts_read(struct backend_accounts *accounts, struct backends *backends,
                          struct camp_error *error);

/* Like backend_accounts_read(), but copies accounts that the caller has read, in any order. CAMP_OK
 * or CAMP_E_NOMEM. */
int backend_accounts_replace(struct backend_accounts *accounts, const struct backend_account *now,
                             size_t count);

/* Removes now[at]. The next reading then returns the whole account of the backend as its
 * difference. */
void backend_accounts_omit(struct backend_accounts *accounts, size_t at);

/* Fills *ret with the differences of times, switches and waits between the last two readings of the
 * backend now[at]. begin_ns is the start of the difference. Waits that did not grow are left out.
 * Returns false if no time has passed, because the backend had ended before. */
bool backend_accounts_since(const struct backend_accounts *accounts, size_t at,
                            struct backend_account *ret);
