/*
 * The writer of recordings: frames to one SQLite file, format camp.1 (docs/recording.md). An
 * interval is a transaction, so the file has only whole intervals, even after a crash.
 */
#pragma once

#include "ledger/frame.h"

/* The facts of a recording that its writer does not know. Texts are copied. */
struct recorder_about {
    const char *source; /* as --from names it */
    const char *kind;   /* what the rows of the source are; "": the schema's name */
    const char *tier, *note;
    uint64_t interval_ns; /* 0: unknown */
};

struct recorder_counts {
    uint64_t ticks;   /* committed */
    uint64_t rows;    /* rows of all frames */
    uint64_t written; /* rows that were not left out */
    uint64_t bytes;   /* size of the file, with its -wal */
};

struct recorder;

/* Creates a file. CAMP_E_IO: it exists already. */
int recorder_open(struct recorder **ret, const char *path, const struct recorder_about *about,
                  struct camp_error *error);

/* Writes an interval: a frame, and the frame beside it or NULL. The schemas are those of the first
 * call, and must live as long as the recorder. CAMP_E_SPACE: the disk is full; the file has nothing
 * of this interval and all earlier ones, and the caller may try again. */
int recorder_write(struct recorder *recorder, const struct frame *frame, const struct frame *beside,
                   struct camp_error *error);

struct recorder_counts recorder_counts(const struct recorder *recorder);

/* Closes the file, and leaves a single one: without -wal, unless another process still reads it.
 * Accepts NULL. */
void recorder_close(struct recorder *recorder);
