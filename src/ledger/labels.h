/*
 * Labels: text attributes of an entity, for grouping and searching. A database session has its
 * user, its database, its application, ... The source's schema has their names; an entity has a
 * tuple of values in the same order.
 *
 * A tuple is interned: the same values are the same pointer, for the life of the process. So an
 * entity carries one pointer, which is copied with it, compared by ==, and never freed. Tuples are
 * few (combinations of users, applications, ... that occur), and each takes about 100 bytes; where
 * each snapshot has new ones (an application with a number in its name), there is space for
 * LABELS_BYTES, some hundred thousand tuples; later entities have no labels.
 */
#pragma once

#include <stddef.h>

#define LABELS_MOST 8                           /* values in a tuple, at most */
#define LABELS_VALUE_SIZE 128                   /* of a value, including its NUL */
#define LABELS_BYTES ((size_t)64 * 1024 * 1024) /* of all tuples together */

struct labels {
    size_t count;
    const char *values[]; /* [count]; "": the entity has no such label */
};

/* Returns the tuple of values[count]; a NULL value is "". Values beyond LABELS_MOST are dropped; a
 * long value is cut between two characters of UTF-8. NULL: all are empty, no memory, or
 * LABELS_BYTES are used up. Only for the one thread in which the sources run. */
const struct labels *labels_intern(const char *const *values, size_t count);

/* The value at index `at`; "" if there is none. `labels` may be NULL. */
const char *labels_value(const struct labels *labels, size_t at);
