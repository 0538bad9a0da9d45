/*
 * Labels: text attributes of an entity, for grouping and searching. For example, a database session
 * has a user, a database and an application. The schema of a source has the names of the labels. An
 * entity has a tuple with the values, in the order of the names.
 *
 * Equal tuples have one number, so numbers can be copied and compared by ==. A number is never used
 * again for another tuple. All tuples together have at most LABELS_BYTES. Sources call
 * labels_start_interval() before each interval: when a quarter of the space is used, it frees the
 * tuples that were not used in the last two intervals. The number of a freed tuple has no values.
 *
 * The functions are not thread-safe. Threads that make frames at the same time have a store each
 * (labels_use_store()): a number means its tuple only in the store that has made it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LABELS_MOST 16
#define LABELS_VALUE_SIZE 128                   /* largest size of a value, including its NUL */
#define LABELS_BYTES ((size_t)64 * 1024 * 1024) /* largest size of all tuples together */

typedef uint64_t labels_id;

#define LABELS_NONE ((labels_id)0)          /* an entity without labels */
#define LABELS_LOST ((labels_id)UINT64_MAX) /* there was no space for the labels of an entity */

/* Returns the number of the tuple values[count], in which NULL stands for "". Values beyond
 * LABELS_MOST are dropped. A long value is cut between two characters of UTF-8. Returns LABELS_NONE
 * if all values are empty, and LABELS_LOST if there is no memory or LABELS_BYTES are used up. */
labels_id labels_intern(const char *const *values, size_t count);

/* Returns the tuple of `count` values in which texts[text_count] stand from index `first` on, and
 * all others are those of `labels`. A text that is NULL leaves a value as it is. Errors are those
 * of labels_intern(). */
labels_id labels_replace(labels_id labels, size_t count, size_t first, const char *const *texts,
                         size_t text_count);

/* Returns the value at index `at`, or "" if there is none. The text is valid until
 * labels_start_interval(). Uses the tuple in this interval. */
const char *labels_value(labels_id labels, size_t at);

/* Returns the number of values; 0 for LABELS_NONE, LABELS_LOST and a freed tuple. Uses the tuple in
 * this interval. */
size_t labels_count(labels_id labels);

/* Keeps a tuple and its texts for ever. Only for the few tuples that have no interval. */
labels_id labels_keep(labels_id labels);

void labels_start_interval(void);

struct labels_store;

/* Returns an empty store whose tuples together have at most `bytes`, or NULL if there is no memory.
 * The caller closes it when no thread uses it any more; `store` may be NULL. */
struct labels_store *labels_store_open(size_t bytes);
void labels_store_close(struct labels_store *store);

/* The calls of this thread use `store` from now on. NULL, the default, is the one store that the
 * process has without this function. */
void labels_use_store(struct labels_store *store);
