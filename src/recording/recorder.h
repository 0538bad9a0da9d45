/*
 * The writer of recordings: frames to one SQLite file, format camp.1 (docs/recording.md). A
 * transaction an interval: whatever happens, what was committed is there, and whole.
 */
#pragma once

#include "ledger/frame.h"

/* What a recording says of itself. Texts are copied. */
struct recorder_about {
    const char *source; /* as --from had it */
    const char *kind;   /* what its rows are; "": as its schema says */
    const char *tier, *note;
    uint64_t interval_ns; /* 0: not known */
};

struct recorder_counts {
    uint64_t ticks;   /* committed */
    uint64_t rows;    /* of the frames */
    uint64_t written; /* rows that were not left out */
    uint64_t bytes;   /* of the file, with what is yet to be moved into it */
};

struct recorder;

/* A new file: one that exists is CAMP_E_INVALID. `about` need not stay. */
int recorder_open(struct recorder **ret, const char *path, const struct recorder_about *about,
                  struct camp_error *error);

/* A further interval: a frame, and the one beside it or NULL. Their schemas must stay while the
 * recorder is open, and those of the first call are the file's. CAMP_E_SPACE: the disk is full;
 * nothing of this interval is in the file, what was before is, and it may be tried again. */
int recorder_write(struct recorder *recorder, const struct frame *frame, const struct frame *beside,
                   struct camp_error *error);

struct recorder_counts recorder_counts(const struct recorder *recorder);

/* Leaves a single file, unless somebody reads it just now: then its -wal stays beside it. NULL is
 * accepted. */
void recorder_close(struct recorder *recorder);
