/* The file /proc/PID/lusage (proc(5)): the usage of each living thread of a process, and before
 * these the sum over its exited threads, all of one point in time. */
#pragma once

#include "counters/illumos/layout.h"

#include <stdbool.h>
#include <stddef.h>

struct lusage {
    const char *entries;
    size_t count, entry_size;
};

/* Returns the number of bytes that the whole file has, according to the start of it; 0 if the start
 * is not of such a file. */
size_t lusage_length(const void *bytes, size_t length);

/* Returns false if the bytes are not a whole file. *ret refers to the bytes. */
bool lusage_parse(const void *bytes, size_t length, struct lusage *ret);

/* Copies entry `index` (0: the exited threads). Returns false if a value in it cannot be. */
bool lusage_entry(const struct lusage *lusage, size_t index, prusage_t *ret);
