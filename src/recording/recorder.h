/*
 * Writes frames to an SQLite file of format camp.1 (docs/recording.md). Each interval is one
 * transaction, so the file has only whole intervals, even after a crash.
 */
#pragma once

#include "ledger/frame.h"

/* Facts about a recording that are not in its frames. recorder_open() copies the texts. */
struct recorder_about {
    const char *source; /* the value of the option --from */
    const char *kind;   /* what the rows are, such as "threads", or "" for the name of the schema */
    const char *tier, *note;
    uint64_t interval_ns; /* 0 if unknown */
    uint64_t server_cpus; /* 0 if unknown */
    uint32_t mode;        /* permissions of the file; 0 means 0600 */
};

/* Rows are those of the source, without those of second frames (source_beside()): the same as in
 * struct recording_info. */
struct recorder_counts {
    uint64_t ticks;
    uint64_t rows;
    uint64_t written; /* rows in the file; `rows` also counts the idle rows that are left out */
    uint64_t bytes;   /* size of the file and its -wal file */
};

struct recorder;
struct causes; /* sources/causes/causes.h */

/* Returns whether a recorder writes the file. False if this is unknown, as on a file system without
 * locks. */
bool recorder_is_writing(const char *path);

/* Creates a file. Returns CAMP_E_IO if the file already exists. */
int recorder_open(struct recorder **ret, const char *path, const struct recorder_about *about,
                  struct camp_error *error);

/* Returns whether the next interval should be a key interval, whose frame has a row for each idle
 * entity (frame.omitted is 0). If it is not such a frame, a later interval is the key interval. */
bool recorder_wants_key(const struct recorder *recorder);

/* Writes an interval. The first frame has a row for each entity. `frame` is the frame of the
 * source, `beside` its second frame (source_beside()) or NULL, and `causes` the causes of waits in
 * the same interval (source_causes()) or NULL. All calls must use the schemas
 * of the first call, and the schemas must live as long as the recorder. Returns CAMP_E_SPACE if the
 * disk is full; the file then has all earlier intervals, and the caller may try again. Returns
 * CAMP_E_GONE if the file was deleted or another file is at its path. */
int recorder_write(struct recorder *recorder, const struct frame *frame, const struct frame *beside,
                   const struct causes *causes, struct camp_error *error);

struct recorder_counts recorder_counts(const struct recorder *recorder);

/* Closes the file and removes its -wal file, unless another process still reads the recording.
 * Accepts NULL. */
void recorder_close(struct recorder *recorder);
