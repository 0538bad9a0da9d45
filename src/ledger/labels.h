/*
 * Labels: text attributes of an entity, for grouping and searching. For example, a database session
 * has a user, a database and an application. The schema of a source has the names of the labels. An
 * entity has a tuple with the values, in the order of the names.
 *
 * Equal tuples are one object, which is never freed. So pointers to tuples can be copied, and
 * compared by ==. If each snapshot has new values, such as an application with a number in its
 * name, the tuples fill LABELS_BYTES (some hundred thousand tuples). Entities with further tuples
 * then have no labels.
 */
#pragma once

#include <stddef.h>

#define LABELS_MOST 8
#define LABELS_VALUE_SIZE 128                   /* largest size of a value, including its NUL */
#define LABELS_BYTES ((size_t)64 * 1024 * 1024) /* largest size of all tuples together */

struct labels {
    size_t count;
    const char *values[]; /* [count]; "" if the entity has no such label */
};

/* Returns the tuple of values[count], in which NULL stands for "". Values beyond LABELS_MOST are
 * dropped. A long value is cut between two characters of UTF-8. Returns NULL if all values are
 * empty, if there is no memory, or if LABELS_BYTES are used up. Not thread-safe. */
const struct labels *labels_intern(const char *const *values, size_t count);

/* Returns the value at index `at`, or "" if there is none. `labels` may be NULL. */
const char *labels_value(const struct labels *labels, size_t at);
