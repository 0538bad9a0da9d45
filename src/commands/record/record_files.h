/*
 * The files that camp record writes: one, or with --rotate a sequence, of which --keep removes the
 * oldest.
 *
 * With --rotate, run.camp becomes run-20261122T020000Z.camp, after the start of its first interval
 * in UTC. Each is a whole recording. A new name is always later than the existing ones, even if the
 * clock was set back, so that names sort in the order of the files.
 */
#pragma once

#include "recording/recorder.h"

struct record_files {
    const char *output;
    uint64_t rotate_ns;                       /* 0: one file */
    uint64_t keep_ns, keep_bytes, keep_files; /* 0: unlimited */
    struct recorder_about about;
    struct recorder *recorder;      /* NULL: none is open */
    char *path;                     /* of the open file; owned */
    uint64_t begin_ns;              /* start of the file's first interval, monotonic */
    struct recorder_counts earlier; /* of the closed files */
    uint64_t count;                 /* number of files started */
};

/* Writes an interval to its file, and frees disk space as far as --keep permits when the disk is
 * full. OPTIONS_GO_ON, or an exit status after a complaint. */
int record_files_write(struct record_files *files, const struct frame *frame,
                       const struct frame *beside);

/* The counts of all files of this run together. */
struct recorder_counts record_files_counts(const struct record_files *files);

void record_files_close(struct record_files *files);

/* Deletes a recording and its side files. */
void record_files_remove(const char *path);

/* camp record --info: describes a recording. `path`: as for --from. `format`: the name of a view.
 * An exit status; STATUS_FAILURE also when one of several files is no recording, after showing the
 * others. */
int record_info(const char *path, const char *format);
