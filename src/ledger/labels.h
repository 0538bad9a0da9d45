/*
 * Labels: what an entity belongs to, in text, and what it may be grouped and found by. A database
 * session's are its user, its database, its application, ... The names are the source's, stated
 * once in its schema; an entity has a tuple of values in the same order.
 *
 * A tuple is interned: the same values are the same pointer, for as long as the process runs. So an
 * entity carries one pointer, which is copied with it, compared by ==, owned by nobody, and nothing
 * is allocated for who is known already. The price is that nothing is given back. Tuples are few
 * (of each user, application, ... those that occur together), and one takes about 100 bytes; where
 * each look brings new ones (an application that puts a number into its name) they end at
 * LABELS_BYTES, some hundred thousand tuples, and what comes later is without labels.
 */
#ifndef CAMP_LEDGER_LABELS_H
#define CAMP_LEDGER_LABELS_H

#include <stddef.h>

#define LABELS_MOST 8                           /* values of a tuple */
#define LABELS_VALUE_SIZE 128                   /* of a value, with its NUL */
#define LABELS_BYTES ((size_t)64 * 1024 * 1024) /* of all tuples */

struct labels {
    size_t count;
    const char *values[]; /* [count]; "": it has none of this name */
};

/* The tuple of values[count]; NULL is "". What is beyond LABELS_MOST is left out; a value too long
 * is cut between two characters of UTF-8. NULL: all are empty, there is no memory, or LABELS_BYTES
 * are used up. For the one thread in which the sources run. */
const struct labels *labels_intern(const char *const *values, size_t count);

/* Value number `at`; "" where there is none. `labels` may be NULL. */
const char *labels_value(const struct labels *labels, size_t at);

#endif
