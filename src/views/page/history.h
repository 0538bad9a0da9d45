/*
 * The stream so far, for late readers: pieces in order, and readers at a position each. Pure: no
 * lock, no socket.
 *
 * A reader starts at a key frame, so old pieces are dropped up to the next key frame. A piece that
 * a reader is sending stays until it was read: a stalled reader holds one piece, and finds a gap
 * later.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits; 0: none. At least the frames since one key frame are kept. */
struct history_limits {
    size_t bytes;     /* at most */
    uint64_t frames;  /* at least */
    uint64_t time_ns; /* likewise: from the end of the oldest to the end of the newest frame */
};

struct piece;

/* All zero except for the limits is empty. */
struct history {
    struct history_limits limits;
    struct piece *first, *last;
    uint64_t count;   /* pieces ever appended */
    size_t bytes;     /* kept */
    size_t since_key; /* bytes */
};

/* All zero has not started. */
struct history_reader {
    struct piece *at; /* held */
    size_t offset;    /* in it; at its end: waiting for the next */
};

void history_release(struct history *history);

/* A frame with its entities, or (time_ns 0) another piece. CAMP_OK or CAMP_E_NOMEM. */
int history_append(struct history *history, const uint8_t *data, size_t size, bool is_key,
                   uint64_t time_ns);

/* Is another key frame due? Otherwise the limit could not be kept. */
bool history_wants_key(const struct history *history);

/* The number of the oldest frame kept, counted from 1 over all frames; 0: none. */
uint64_t history_oldest_frame(const struct history *history);

/* Reads up to `capacity` next bytes. 0: none yet; or, with *ret_gap, the next ones were dropped:
 * history_reader_start() continues. */
size_t history_read(const struct history *history, struct history_reader *reader, void *ret,
                    size_t capacity, bool *ret_gap);

/* At the oldest one kept. */
void history_reader_start(const struct history *history, struct history_reader *reader);
void history_reader_release(struct history_reader *reader);
