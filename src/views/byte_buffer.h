/* An array of bytes that is appended to. A failed allocation sets a flag, which is checked once at
 * the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that is all zero is empty. */
struct bytes {
    uint8_t *data; /* [size]; owned: bytes_release() */
    size_t size, capacity;
    bool failed; /* no memory: later bytes are missing */
};

void bytes_release(struct bytes *bytes);

/* Removes all bytes, but keeps the memory for later ones. */
void bytes_clear(struct bytes *bytes);

/* Space for `count` more bytes, uninitialised: the caller writes all of them before the next call.
 * NULL: no memory. */
uint8_t *bytes_extend(struct bytes *bytes, size_t count);

void bytes_put(struct bytes *bytes, const void *data, size_t count);
