/*
 * The fields of a message in the wire format of protocol buffers
 * (https://protobuf.dev/programming-guides/encoding). A field is a number, a type and a value.
 * Numbers are varints of 7 bits a byte, the lowest first. Messages and texts have their length in
 * front.
 *
 * A failed allocation sets bytes->failed (byte_buffer.h).
 */
#pragma once

#include "views/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Appends an unsigned number, or a signed one as its two's complement of 64 bits (the types int32,
 * int64, uint32, uint64, bool and enum; not sint32 and sint64). */
void protobuf_number(struct bytes *bytes, uint32_t field, uint64_t value);
void protobuf_signed(struct bytes *bytes, uint32_t field, int64_t value);

/* Appends text[size], or less if it has a NUL, and no more than PROTOBUF_TEXT_MOST bytes. Bytes
 * that are not UTF-8, and characters that cannot be printed, become '?'. */
#define PROTOBUF_TEXT_MOST 1023
void protobuf_text(struct bytes *bytes, uint32_t field, const char *text, size_t size);

/* Starts a message in a field, and returns its place for protobuf_end(), which writes the length.
 * Messages may be nested. */
size_t protobuf_begin(struct bytes *bytes, uint32_t field);
void protobuf_end(struct bytes *bytes, size_t place);
