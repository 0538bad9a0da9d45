/*
 * The differences of the backends' accounts between two readings. The difference of a backend that
 * started in between is all of its account. A backend that has ended is in one more reading, and a
 * reused pid is another backend.
 */
#pragma once

#include "microstates/backends.h"

#include <stdbool.h>

struct backend_accounts {
    struct backend_account *now;    /* [count] of the last reading, ascending by pid and start */
    struct backend_account *before; /* [before_count] of the reading before it */
    size_t count, before_count;
    size_t capacity; /* of both */
};

/* Frees the accounts. All zero: nothing was read yet. */
void backend_accounts_release(struct backend_accounts *accounts);

/* Reads the accounts. CAMP_OK, CAMP_E_NOMEM, or as backends_read(). */
int backend_accounts_read(struct backend_accounts *accounts, struct backends *backends,
                          struct camp_error *error);

/* The same with accounts that the caller has read, in any order; they are copied. */
int backend_accounts_replace(struct backend_accounts *accounts, const struct backend_account *now,
                             size_t count);

/* Removes now[at], so that the next reading accounts for all of the backend's time as new. */
void backend_accounts_omit(struct backend_accounts *accounts, size_t at);

/* Fills *ret with what now[at] did since the reading before: its times, switches and waits are
 * differences, and begin_ns is where the difference starts. Waits that did not grow are left out.
 * False: nothing has changed, because the backend had ended before. */
bool backend_accounts_since(const struct backend_accounts *accounts, size_t at,
                            struct backend_account *ret);
