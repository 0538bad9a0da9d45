/* Bytes that grow at their end. What cannot be had for want of memory is remembered, and asked for
 * once at the end. */
#ifndef CAMP_VIEWS_BYTES_H
#define CAMP_VIEWS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct bytes {
    uint8_t *data; /* [size]; owned: bytes_release() */
    size_t size, capacity;
    bool failed; /* no memory: what was put since is missing */
};

void bytes_release(struct bytes *bytes);

/* Keeps the memory. */
void bytes_clear(struct bytes *bytes);

/* `count` further bytes, not set: the caller writes all of them before the next call. NULL: no
 * memory. */
uint8_t *bytes_extend(struct bytes *bytes, size_t count);

void bytes_put(struct bytes *bytes, const void *data, size_t count);

#endif
