/*
 * Accounts of backends between two looks: what each did since the one before. One that began in
 * between has all of its own, one that ended is there once more, and a pid that is used again is
 * another backend.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_BACKEND_ACCOUNTS_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_BACKEND_ACCOUNTS_H

#include "microstates/backends.h"

#include <stdbool.h>

struct backend_accounts {
    struct backend_account *now;    /* [count] of the last look, ascending by pid and start */
    struct backend_account *before; /* [before_count] of the one before it */
    size_t count, before_count;
    size_t capacity; /* of both */
};

/* All zero is a accounts before its first look. */
void backend_accounts_release(struct backend_accounts *accounts);

/* Looks. CAMP_OK, CAMP_E_NOMEM, or as backends_read(). */
int backend_accounts_read(struct backend_accounts *accounts, struct backends *backends,
                          struct camp_error *error);

/* The same from now[count] that were read already, in any order; they are copied. */
int backend_accounts_replace(struct backend_accounts *accounts, const struct backend_account *now,
                             size_t count);

/* As if now[at] had not been seen: the next look tells all of it. */
void backend_accounts_omit(struct backend_accounts *accounts, size_t at);

/* What now[at] did since the look before: its times, switches and waits are of that alone, and
 * begin_ns is when it began. Waits that did not grow are not there. False: nothing, it is as it was
 * (it had ended before). */
bool backend_accounts_since(const struct backend_accounts *accounts, size_t at,
                            struct backend_account *ret);

#endif
