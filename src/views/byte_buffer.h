/* An array of bytes that grows as data are appended. A failed allocation sets a flag, so that
 * callers check for errors only once, at the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that is all zero is empty. */
struct bytes {
    uint8_t *data; /* [size], released by bytes_release() */
    size_t size, capacity;
    bool failed; /* An allocation failed; the bytes appended since then are missing. */
};

void bytes_release(struct bytes *bytes);

/* Removes all bytes, but keeps the allocated memory. */
void bytes_clear(struct bytes *bytes);

/* Appends `count` bytes, and returns their address, or NULL if there is no memory. The caller fills
 * the bytes before anything else is appended. */
uint8_t *bytes_extend(struct bytes *bytes, size_t count);

void bytes_put(struct bytes *bytes, const void *data, size_t count);
