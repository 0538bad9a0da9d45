#include "protobuf.h"

#include "ledger/characters.h"
#include "ledger/words.h"

#include <stdbool.h>
#include <string.h>

enum wire_type { VARINT = 0, WITH_LENGTH = 2 };

#define VARINT_SIZE 10 /* of 64 bits, 7 in a byte */

static size_t encode(uint8_t ret[VARINT_SIZE], uint64_t value)
{
    size_t size = 0;

    do {
        const bool is_last = value < 0x80;

        ret[size++] = (uint8_t)((value & 0x7f) | (is_last ? 0 : 0x80));
        value >>= 7;
    } while (value != 0);
    return size;
}

static void put(struct bytes *bytes, uint64_t value)
{
    uint8_t varint[VARINT_SIZE];

    bytes_put(bytes, varint, encode(varint, value));
}

static void put_tag(struct bytes *bytes, uint32_t field, enum wire_type type)
{
    put(bytes, (uint64_t)field << 3 | type);
}

void protobuf_number(struct bytes *bytes, uint32_t field, uint64_t value)
{
    put_tag(bytes, field, VARINT);
    put(bytes, value);
}

void protobuf_signed(struct bytes *bytes, uint32_t field, int64_t value)
{
    protobuf_number(bytes, field, (uint64_t)value);
}

void protobuf_text(struct bytes *bytes, uint32_t field, const char *text, size_t size)
{
    char copy[PROTOBUF_TEXT_MOST + 1];

    copy_text(copy, sizeof copy, text, strnlen(text, size));
    make_printable(copy);
    put_tag(bytes, field, WITH_LENGTH);
    put(bytes, strlen(copy));
    bytes_put(bytes, copy, strlen(copy));
}

size_t protobuf_begin(struct bytes *bytes, uint32_t field)
{
    put_tag(bytes, field, WITH_LENGTH);
    bytes_extend(bytes, 1); /* enough for the length of most messages */
    return bytes->size;
}

void protobuf_end(struct bytes *bytes, size_t place)
{
    const size_t length = bytes->size - place;
    uint8_t varint[VARINT_SIZE];
    size_t size;

    if (bytes->failed)
        return;
    size = encode(varint, length);
    if (size > 1 && bytes_extend(bytes, size - 1) == NULL)
        return;
    memmove(bytes->data + place - 1 + size, bytes->data + place, length);
    memcpy(bytes->data + place - 1, varint, size);
}
