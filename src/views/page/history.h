/*
 * The last part of the stream, for readers that start late: a list of pieces (a frame with its
 * entities, or another block), and a position for each reader. This code uses no lock and no
 * socket.
 *
 * A reader starts at a key frame, so old pieces are dropped up to the next key frame. A piece that
 * is being read is kept: a stalled reader holds one piece, and finds a gap after it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of the history; 0: none. The frames since the last key frame are always kept. */
struct history_limits {
    size_t bytes;     /* at most */
    uint64_t frames;  /* at least */
    uint64_t time_ns; /* at least, from the end of the oldest to the end of the newest frame */
};

struct piece;

/* A history that is all zero except for the limits is empty. */
struct history {
    struct history_limits limits;
    struct piece *first, *last;
    uint64_t count;   /* pieces ever appended */
    size_t bytes;     /* kept */
    size_t since_key; /* bytes */
};

/* A reader that is all zero has not started. */
struct history_reader {
    struct piece *at; /* the current piece, held */
    size_t offset;    /* bytes read of this piece */
};

void history_release(struct history *history);

/* Appends a frame with its entities, or (time_ns 0) another piece. CAMP_OK or CAMP_E_NOMEM. */
int history_append(struct history *history, const uint8_t *data, size_t size, bool is_key,
                   uint64_t time_ns);

/* Must the next frame be a key frame, to keep the limit of bytes? */
bool history_wants_key(const struct history *history);

/* The number of the oldest frame kept, counted from 1 over all frames; 0: none. */
uint64_t history_oldest_frame(const struct history *history);

/* Reads up to `capacity` bytes, and returns their number. 0: there are none yet; or, if *ret_gap,
 * the next bytes were dropped: continue with history_reader_start(). */
size_t history_read(const struct history *history, struct history_reader *reader, void *ret,
                    size_t capacity, bool *ret_gap);

/* Positions the reader at the oldest piece. */
void history_reader_start(const struct history *history, struct history_reader *reader);
void history_reader_release(struct history_reader *reader);
