/*
 * The recent part of the stream, for readers that start late. The history is a list of pieces. A
 * piece is a frame with its entities, or another block. Each reader has a position in this list.
 * This code uses no lock and no socket.
 *
 * A reader starts at a key frame, so old pieces are dropped only up to the next key frame. A
 * reader's current piece stays in memory even after the history has dropped it. So a stalled reader
 * costs only one piece, and later finds a gap after this piece.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of the history; 0 means no limit. The frames since the last key frame are always kept. */
struct history_limits {
    size_t bytes;    /* the history keeps at most this many bytes */
    uint64_t frames; /* the history keeps at least this many frames */
    /* The least time to keep, from the end of the oldest frame to the end of the newest frame. */
    uint64_t time_ns;
};

struct piece;

/* A history that is all zero except for the limits is empty. */
struct history {
    struct history_limits limits;
    struct piece *first, *last;
    uint64_t count; /* number of pieces ever appended */
    size_t bytes;
    size_t since_key; /* bytes of the pieces since the last key frame */
};

/* A reader that is all zero has not started. */
struct history_reader {
    struct piece *at; /* the current piece, which this reader holds */
    size_t offset;    /* bytes of the current piece that are already read */
};

void history_release(struct history *history);

/* Appends a piece: a frame with its entities, where time_ns is the frame's end, or another block,
 * where time_ns is 0. Returns CAMP_OK or CAMP_E_NOMEM. */
int history_append(struct history *history, const uint8_t *data, size_t size, bool is_key,
                   uint64_t time_ns);

/* Returns true if the next frame must be a key frame. Pieces are dropped only up to a key frame, so
 * limits.bytes needs a key frame from time to time. */
bool history_wants_key(const struct history *history);

/* Returns the number of the oldest frame in the history, counted from 1 over all frames, or 0 if
 * there is no frame. */
uint64_t history_oldest_frame(const struct history *history);

/* Reads up to `capacity` bytes, and returns their number. 0 means that there are no more bytes yet
 * or, if *ret_gap is set, that the next bytes were dropped. After a gap, the caller continues with
 * history_reader_start(). */
size_t history_read(const struct history *history, struct history_reader *reader, void *ret,
                    size_t capacity, bool *ret_gap);

void history_reader_start(const struct history *history, struct history_reader *reader);
void history_reader_release(struct history_reader *reader);
