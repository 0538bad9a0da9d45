/* The block of a frame (docs/stream.md): the selection of stream.c, in little-endian. */
#include "stream_block.h"

#include <endian.h>
#include <string.h>

enum { FRAME_KEY = 1 };

static uint8_t *put_u16(uint8_t *at, uint16_t value)
{
    value = htole16(value);
    return (uint8_t *)memcpy(at, &value, sizeof value) + sizeof value;
}

static uint8_t *put_u32(uint8_t *at, uint64_t value)
{
    const uint32_t written = htole32(value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);

    return (uint8_t *)memcpy(at, &written, sizeof written) + sizeof written;
}

static uint8_t *put_f32(uint8_t *at, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return put_u32(at, bits);
}

static uint8_t *put_f64(uint8_t *at, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = htole64(bits);
    return (uint8_t *)memcpy(at, &bits, sizeof bits) + sizeof bits;
}

/* States that are not 0 in all rows to send. Returns their number. */
static size_t find_columns(const struct stream *stream, uint32_t mask[STREAM_STATES_MAXIMUM / 32])
{
    const size_t states = stream->schema->state_count;
    size_t count = 0;

    memset(mask, 0, STREAM_STATES_MAXIMUM / 8);
    for (size_t i = 0; i < states; i++) {
        for (size_t j = 0; j < stream->chosen.count; j++) {
            if (stream->now.shares[stream->chosen.numbers[j] * states + i] == 0)
                continue;
            mask[i / 32] |= 1u << i % 32;
            count++;
            break;
        }
    }
    return count;
}

static uint8_t *put_frame_head(uint8_t *at, const struct stream *stream, const struct frame *frame,
                               bool is_key)
{
    at = put_f64(at, (double)frame->wall_clock_ns / 1e6);
    at = put_f64(at, (double)(frame->end_ns - frame->start_ns) / 1e6);
    at = put_f64(at, (double)(1u << stream->doublings) / SHARE_UNITS);
    at = put_u32(at, is_key ? FRAME_KEY : 0);
    at = put_u32(at, stream->chosen.count);
    at = put_u32(at, stream->gone.count);
    at = put_u32(at, frame->losses.unseen);
    at = put_u32(at, frame->losses.lost);
    return put_u32(at, frame->losses.partial);
}

static uint8_t *put_rows(uint8_t *at, const struct stream *stream)
{
    const struct stream_numbers *chosen = &stream->chosen;
    const struct stream_now *now = &stream->now;

    for (size_t i = 0; i < stream->gone.count; i++)
        at = put_u32(at, stream->gone.numbers[i]);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_u32(at, now->numbers[chosen->numbers[i]]);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_f32(at, now->rows[chosen->numbers[i]].elapsed);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_f32(at, now->rows[chosen->numbers[i]].unaccounted);
    for (size_t i = 0; i < chosen->count; i++)
        at = put_u16(at, now->rows[chosen->numbers[i]].flags);
    return at;
}

int stream_put_frame(const struct stream *stream, const struct frame *frame, bool is_key,
                     struct bytes *out)
{
    const size_t states = stream->schema->state_count;
    const size_t rows = stream->chosen.count;
    uint32_t mask[STREAM_STATES_MAXIMUM / 32];
    const size_t columns = find_columns(stream, mask);
    const size_t size = 3 * sizeof(double) + 6 * sizeof(uint32_t) + sizeof mask +
                        stream->gone.count * sizeof(uint32_t) +
                        rows * (3 * sizeof(uint32_t) + (1 + columns) * sizeof(uint16_t));
    uint8_t *at = stream_block_start(out, BLOCK_FRAME, size);

    if (at == NULL)
        return CAMP_E_NOMEM;
    at = put_frame_head(at, stream, frame, is_key);
    for (size_t i = 0; i < STREAM_STATES_MAXIMUM / 32; i++)
        at = put_u32(at, mask[i]);
    at = put_rows(at, stream);
    for (size_t i = 0; i < states; i++) {
        if ((mask[i / 32] >> i % 32 & 1) == 0)
            continue;
        for (size_t j = 0; j < rows; j++)
            at = put_u16(at, stream->now.shares[stream->chosen.numbers[j] * states + i]);
    }
    return CAMP_OK;
}
