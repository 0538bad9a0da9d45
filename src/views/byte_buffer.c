#include "byte_buffer.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

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

uint8_t *bytes_extend(struct bytes *bytes, size_t count)
{
    uint8_t *at;

    if (bytes->failed || count > SIZE_MAX - bytes->size ||
        !ARRAY_RESERVE(bytes->data, bytes->capacity, bytes->size + count)) {
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
