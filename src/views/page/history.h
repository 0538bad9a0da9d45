/*
 * What was sent so far, for those who come later: pieces of a stream in their order, and readers
 * who are each somewhere in it. Pure: no lock, no socket.
 *
 * A reader begins at a key frame, so what is too old is dropped from the front up to the next one.
 * A piece that somebody is in the midst of stays until it was read: a reader who stops holds one
 * piece, whatever comes after it, and hears later that there is a gap.
 */
#ifndef CAMP_VIEWS_PAGE_HISTORY_H
#define CAMP_VIEWS_PAGE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept; 0: without a limit. At least a run of frames from one key frame on is. */
struct history_limits {
    size_t bytes;     /* at most */
    uint64_t frames;  /* at least */
    uint64_t time_ns; /* likewise: between the end of the oldest and of the newest frame */
};

struct piece;

/* All zero but for the limits is an empty one. */
struct history {
    struct history_limits limits;
    struct piece *first, *last;
    uint64_t count;   /* of pieces that were ever appended */
    size_t bytes;     /* that are kept */
    size_t since_key; /* bytes */
};

/* All zero is one that has not begun. */
struct history_reader {
    struct piece *at; /* held */
    size_t offset;    /* in it; at its end: it waits for the next */
};

void history_release(struct history *history);

/* A frame with its entities, or (time_ns 0) something else. CAMP_OK or CAMP_E_NOMEM. */
int history_append(struct history *history, const uint8_t *data, size_t size, bool is_key,
                   uint64_t time_ns);

/* So much has come since the last key frame that another is due, or the limit could not be kept. */
bool history_wants_key(const struct history *history);

/* The number of the oldest frame that is kept, counted from 1 over all frames; 0: there is none. */
uint64_t history_oldest_frame(const struct history *history);

/* At most `capacity` bytes that come next. 0: there are none yet; or, *ret_gap, what comes next
 * has been dropped: history_reader_begin() goes on. */
size_t history_read(const struct history *history, struct history_reader *reader, void *ret,
                    size_t capacity, bool *ret_gap);

/* At the oldest that is kept. */
void history_reader_begin(const struct history *history, struct history_reader *reader);
void history_reader_release(struct history_reader *reader);

#endif
