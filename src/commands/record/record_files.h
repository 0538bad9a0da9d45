/*
 * The files that camp record writes to: one, or with --rotate one after the other, of which the
 * oldest are removed as --keep says.
 *
 * With --rotate, run.camp becomes run-20261122T020000Z.camp: when its first interval began, in UTC.
 * Each is a whole recording. A name is always later than those that are there, also when the clock
 * was set back, so that the order of the names is that of the files.
 */
#ifndef CAMP_COMMANDS_RECORD_RECORD_FILES_H
#define CAMP_COMMANDS_RECORD_RECORD_FILES_H

#include "recording/recorder.h"

struct record_files {
    const char *output;
    uint64_t rotate_ns;                       /* 0: one file */
    uint64_t keep_ns, keep_bytes, keep_files; /* 0: not limited */
    struct recorder_about about;
    struct recorder *recorder;      /* NULL: none is open */
    char *path;                     /* of the one that is open; owned */
    uint64_t begin_ns;              /* of its first interval, monotonic */
    struct recorder_counts earlier; /* of those that are closed */
    uint64_t count;                 /* of files that were begun */
};

/* Writes an interval to the file where it belongs, and makes room for it when the disk is full and
 * --keep permits that. OPTIONS_GO_ON, or an exit status after a complaint. */
int record_files_write(struct record_files *files, const struct frame *frame,
                       const struct frame *beside);

/* Of all files of this run. */
struct recorder_counts record_files_counts(const struct record_files *files);

void record_files_close(struct record_files *files);

/* In bytes, with what is yet to be moved into it. */
uint64_t record_files_size(const char *path);

/* A recording, with what may stand beside it. */
void record_files_remove(const char *path);

#endif
