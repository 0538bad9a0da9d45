/* Helpers of tests: frames to write, and a reader of the stream, which works like the reader of the
 * page. */
#pragma once

#include "views/page/stream.h"

#include "../tree.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000u
#define ENTITIES_MAXIMUM 512
#define STATES_MAXIMUM STREAM_STATES_MAXIMUM

static struct column columns[STATES_MAXIMUM + 1];
static char column_names[STATES_MAXIMUM + 1][16];

static struct schema schema_of(size_t states)
{
    for (size_t i = 0; i < states; i++) {
        snprintf(column_names[i], sizeof column_names[i], "state%zu_ns", i);
        columns[i] = (struct column){ column_names[i], "state", "help \"quoted\"", COLUMN_STATE,
                                      CAMP_MEASURED };
    }
    return (struct schema){ "test", columns, states, states };
}

/* What a reader knows after each block of the stream (docs/stream.md). */
struct reader {
    size_t states;
    bool is_sent[ENTITIES_MAXIMUM], is_gone[ENTITIES_MAXIMUM]; /* in the last frame */
    bool is_there[ENTITIES_MAXIMUM];
    float elapsed[ENTITIES_MAXIMUM], unaccounted[ENTITIES_MAXIMUM];
    uint16_t flags[ENTITIES_MAXIMUM];
    uint16_t shares[ENTITIES_MAXIMUM][STATES_MAXIMUM];
    double end_ms, length_ms, unit;
    bool is_key;
    uint32_t count, gone, unseen, lost, partial;
    char text[65536]; /* text of the last JSON block */
    unsigned blocks[9];
};

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static uint16_t u16_at(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return le16toh(value);
}

static float f32_at(const uint8_t *at)
{
    const uint32_t bits = u32_at(at);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f64_at(const uint8_t *at)
{
    uint64_t bits;
    double value;

    memcpy(&bits, at, sizeof bits);
    bits = le64toh(bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void leave(struct reader *reader, const uint8_t *gone)
{
    memset(reader->is_gone, 0, sizeof reader->is_gone);
    for (size_t n = 0; n < ENTITIES_MAXIMUM; n++) {
        if (reader->is_key || (reader->flags[n] & 2) != 0)
            reader->is_there[n] = false;
    }
    for (size_t i = 0; i < reader->gone; i++) {
        const uint32_t n = u32_at(gone + 4 * i);

        assert_true(n < ENTITIES_MAXIMUM && reader->is_there[n]);
        reader->is_there[n] = false;
        reader->is_gone[n] = true;
    }
}

static void read_rows(struct reader *reader, const uint8_t *mask, const uint8_t *rows)
{
    const size_t count = reader->count;

    memset(reader->is_sent, 0, sizeof reader->is_sent);
    for (size_t i = 0; i < count; i++) {
        const uint32_t n = u32_at(rows + 4 * i);
        const uint8_t *shares = rows + 14 * count + 2 * i;

        assert_true(n < ENTITIES_MAXIMUM && !reader->is_sent[n] && !reader->is_gone[n]);
        reader->is_there[n] = reader->is_sent[n] = true;
        reader->elapsed[n] = f32_at(rows + 4 * (count + i));
        reader->unaccounted[n] = f32_at(rows + 4 * (2 * count + i));
        reader->flags[n] = u16_at(rows + 12 * count + 2 * i);
        for (size_t state = 0; state < STATES_MAXIMUM; state++) {
            reader->shares[n][state] = 0;
            if ((u32_at(mask + 4 * (state / 32)) >> state % 32 & 1) != 0) {
                assert_true(state < reader->states);
                reader->shares[n][state] = u16_at(shares);
                shares += 2 * count;
            }
        }
    }
}

static void read_frame(struct reader *reader, const uint8_t *payload, size_t size)
{
    size_t columns_there = 0;
    double unit = reader->unit;

    reader->end_ms = f64_at(payload);
    reader->length_ms = f64_at(payload + 8);
    reader->unit = f64_at(payload + 16);
    reader->is_key = (u32_at(payload + 24) & 1) != 0;
    reader->count = u32_at(payload + 28);
    reader->gone = u32_at(payload + 32);
    reader->unseen = u32_at(payload + 36);
    reader->lost = u32_at(payload + 40);
    reader->partial = u32_at(payload + 44);
    for (size_t i = 0; i < 4; i++)
        columns_there += (size_t)__builtin_popcount(u32_at(payload + 48 + 4 * i));
    assert_int_equal(size, 64 + 4 * reader->gone + reader->count * (14 + 2 * columns_there));
    if (!reader->is_key)
        assert_true(fabs(unit - reader->unit) < 1e-12);
    leave(reader, payload + 64);
    read_rows(reader, payload + 48, payload + 64 + 4 * reader->gone);
}

/* Reads all blocks, and empties `bytes`. */
static void read_blocks(struct reader *reader, struct bytes *bytes)
{
    memset(reader->blocks, 0, sizeof reader->blocks);
    assert_false(bytes->failed);
    for (size_t at = 0; at < bytes->size;) {
        const uint32_t size = u32_at(bytes->data + at), type = u32_at(bytes->data + at + 4);
        const uint8_t *payload = bytes->data + at + 8;

        assert_int_equal(at % 8, 0);
        assert_true(at + 8 + size <= bytes->size);
        assert_in_range(type, 1, 8);
        reader->blocks[type]++;
        if (type == 3) {
            read_frame(reader, payload, size);
        } else {
            assert_true(size < sizeof reader->text);
            memcpy(reader->text, payload, size);
            reader->text[size] = '\0';
        }
        at += 8 + (size + 7) / 8 * 8;
    }
    bytes_clear(bytes);
}

/* Adds the row of an entity. The states are in percent of the entity's elapsed time. */
static void add(struct frame *frame, int64_t id, uint32_t flags, uint64_t elapsed_ns,
                const double *percent)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = id;
    entity->flags = flags;
    snprintf(entity->name, sizeof entity->name, "e%d", (int)id);
    frame->elapsed_ns[frame->entity_count - 1] = elapsed_ns;
    for (size_t i = 0; i < frame->schema->state_count; i++)
        frame_values(frame, frame->entity_count - 1)[i] =
            (uint64_t)(percent[i] / 100 * (double)elapsed_ns);
}

static void begin(struct frame *frame)
{
    frame_clear(frame);
    frame->start_ns = frame->end_ns;
    frame->end_ns += S;
    frame->wall_clock_ns += S;
}

static void write_and_read(struct stream *stream, const struct frame *frame, struct reader *reader)
{
    struct bytes bytes = { 0 };
    bool is_key;

    assert_int_equal(stream_frame(stream, frame, &bytes, &is_key), CAMP_OK);
    read_blocks(reader, &bytes);
    assert_int_equal(reader->blocks[3], 1);
    assert_true(is_key == reader->is_key);
    bytes_release(&bytes);
}

/* The stream, the frame and the reader of a test. */
struct fixture {
    struct schema schema;
    struct stream stream;
    struct frame frame;
    struct reader reader;
};

static struct fixture *fixture_new(size_t states)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    fixture->schema = schema_of(states);
    fixture->reader.states = states;
    frame_init(&fixture->frame, &fixture->schema);
    fixture->frame.wall_clock_ns = 1700000000 * (int64_t)S;
    assert_int_equal(stream_init(&fixture->stream, &fixture->schema), CAMP_OK);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    stream_release(&fixture->stream);
    frame_release(&fixture->frame);
    free(fixture);
}

static void go(struct fixture *fixture)
{
    write_and_read(&fixture->stream, &fixture->frame, &fixture->reader);
}
