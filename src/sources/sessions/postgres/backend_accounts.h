/*
 * How much the accounts of backends grew between two readings. An account is the time that a
 * backend has spent on a CPU, runnable, and in each wait (microstates/backends.h). For a backend
 * that started after the earlier reading, the growth is its whole account. A backend that has ended
 * appears in one more reading. A backend is identified by pid and start time, because pids are
 * reused.
 */
#pragma once

#include "microstates/backends.h"

#include <stdbool.h>

struct backend_accounts {
    /* [count] accounts of the latest reading, in ascending order of pid and start */
    struct backend_account *now;
    struct backend_account *before; /* [before_count] accounts of the previous reading */
    size_t count, before_count;
    size_t capacity;
    /* Times by statement, each [statement_capacity], by the `row` of an account of `now` or
     * `before`. NULL unless `by_statement` was set before the first reading. */
    struct backend_statements *statements, *statements_before;
    size_t statement_capacity;
    bool by_statement;
    /* Waits for locks by blocker, in the same way, each [block_capacity]; NULL unless `by_blocker`.
     */
    struct backend_blocks *blocks, *blocks_before;
    size_t block_capacity;
    bool by_blocker;
};

/* Frees the accounts. An all-zero struct is empty. */
void backend_accounts_release(struct backend_accounts *accounts);

/* Reads the accounts of all backends. CAMP_E_NOMEM, or a failure of backends_read(). */
int backend_accounts_read(struct backend_accounts *accounts, struct backends *backends,
                          struct camp_error *error);

/* Copies the accounts of a new reading from now[count], in any order, without times by statement.
 * CAMP_OK or CAMP_E_NOMEM. */
int backend_accounts_replace(struct backend_accounts *accounts, const struct backend_account *now,
                             size_t count);

/* Removes now[at]. After the next reading, the whole account of this backend counts as growth. */
void backend_accounts_omit(struct backend_accounts *accounts, size_t at);

/* Fills *ret with the growth of now[at] since the previous reading. ret->begin_ns is the time of
 * the previous reading, or the start of a new backend. Waits that did not grow are left out.
 * Returns false if no time has passed, because the backend had ended at the previous reading. */
bool backend_accounts_since(const struct backend_accounts *accounts, size_t at,
                            struct backend_account *ret);

/* Return the times by statement of now[at], and of the same backend at the previous reading. NULL
 * if there are none. */
struct backend_statements *backend_accounts_statements(const struct backend_accounts *accounts,
                                                       size_t at);
const struct backend_statements *
backend_accounts_statements_before(const struct backend_accounts *accounts, size_t at);

/* The same of waits for locks by blocker. */
const struct backend_blocks *backend_accounts_blocks(const struct backend_accounts *accounts,
                                                     size_t at);
const struct backend_blocks *backend_accounts_blocks_before(const struct backend_accounts *accounts,
                                                            size_t at);
