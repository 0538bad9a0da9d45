/*
 * Accounts of backends between two looks: what each did since the one before. One that began in
 * between has all of its own, one that ended is there once more, and a pid that is used again is
 * another backend.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_ACCOUNT_BOOK_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_ACCOUNT_BOOK_H

#include "microstates/backends.h"

#include <stdbool.h>

struct account_book {
    struct backend_account *accounts; /* [count] of the last look, ascending by pid and start */
    struct backend_account *before;   /* [before_count] of the one before it */
    size_t count, before_count;
    size_t capacity; /* of both */
};

/* All zero is a book before its first look. */
void account_book_release(struct account_book *book);

/* Looks. CAMP_OK, CAMP_E_NOMEM, or as backends_read(). */
int account_book_look(struct account_book *book, struct backends *backends,
                      struct camp_error *error);

/* The same from accounts[count] that were read already, in any order; they are copied. */
int account_book_turn(struct account_book *book, const struct backend_account *accounts,
                      size_t count);

/* As if accounts[at] had not been seen: the next look tells all of it. */
void account_book_omit(struct account_book *book, size_t at);

/* What accounts[at] did since the look before: its times, switches and waits are of that alone, and
 * begin_ns is when it began. Waits that did not grow are not there. False: nothing, it is as it was
 * (it had ended before). */
bool account_book_since(const struct account_book *book, size_t at, struct backend_account *ret);

#endif
