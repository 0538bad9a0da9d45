#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096

void bytes_release(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){ 0 };
}

void bytes_clear(struct bytes *bytes)
{
    bytes->size = 0;
    bytes->failed = false;
}

static bool reserve(struct bytes *bytes, size_t count)
{
    size_t capacity = bytes->capacity > 0 ? bytes->capacity : FIRST_CAPACITY;
    uint8_t *grown;

    if (count <= bytes->capacity - bytes->size)
        return true;
    while (capacity - bytes->size < count) {
        if (capacity > SIZE_MAX / 2)
            return false;
        capacity *= 2;
    }
    grown = realloc(bytes->data, capacity);
    if (grown == NULL)
        return false;
    bytes->data = grown;
    bytes->capacity = capacity;
    return true;
}

uint8_t *bytes_extend(struct bytes *bytes, size_t count)
{
    uint8_t *at;

    if (bytes->failed || !reserve(bytes, count)) {
        bytes->failed = true;
        return NULL;
    }
    at = bytes->data + bytes->size;
    bytes->size += count;
    return at;
}

void bytes_put(struct bytes *bytes, const void *data, size_t count)
{
    uint8_t *at = bytes_extend(bytes, count);

    if (at != NULL && count > 0)
        memcpy(at, data, count);
}
