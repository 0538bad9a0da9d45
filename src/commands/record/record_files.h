/*
 * The files that camp record writes. Without --rotate there is one file. With --rotate there is a
 * sequence of files, and --keep removes the oldest.
 *
 * With --rotate each file is a complete recording, and its name has the start of its first interval
 * in UTC: run.camp becomes run-20261122T020000Z.camp. A new name is always later than the existing
 * names, even if the clock was set back. So the order of the names is the order of writing.
 */
#pragma once

#include "recording/recorder.h"

struct record_files {
    const char *output;
    uint64_t rotate_ns;                       /* 0 means one file */
    uint64_t keep_ns, keep_bytes, keep_files; /* 0 means unlimited */
    struct recorder_about about;
    struct recorder *recorder; /* NULL if no file is open */
    char *path;                /* owned */
    int64_t time_s;            /* in the name of the open file; only with --rotate */
    uint64_t begin_ns;         /* the start of the first interval in the file, by CLOCK_MONOTONIC */
    struct recorder_counts earlier; /* the counts of the closed files */
    uint64_t count;
};

/* Returns a path such as "run-20261122T020000Z.camp", for "run.camp", a time in s since 1970, and
 * the suffix ".camp". The caller frees it. Returns NULL if there is no memory. */
char *record_files_path(const char *output, int64_t time_s, const char *suffix);

/* Sets the limits of --keep, which may be NULL; files->rotate_ns is set. Returns OPTIONS_GO_ON, or
 * STATUS_USAGE after an error message. */
int record_files_resolve_keep(struct record_files *files, const char *keep);

/* Returns whether the frame that ends at deadline_ns (CLOCK_MONOTONIC) must have a row for each
 * idle entity. A frame without them does no harm: it delays the next file, or the next key
 * interval. */
bool record_files_want_all(const struct record_files *files, uint64_t deadline_ns);

/* Writes a frame, and the second frame (source_beside()) and the causes (source_causes()) of its
 * source, or NULL, to a file. If the
 * disk is full and --keep was given, removes old files. Returns OPTIONS_GO_ON, or an exit status
 * after an error message. */
int record_files_write(struct record_files *files, const struct frame *frame,
                       const struct frame *beside, const struct causes *causes);

/* Returns the sum of the counts of all files of this run. */
struct recorder_counts record_files_counts(const struct record_files *files);

void record_files_close(struct record_files *files);

/* camp record --info: describes a recording. `path` has the forms that --from takes. `format` is
 * the name of a view. Returns an exit status. If one of several files is not a recording, shows
 * the others and returns STATUS_FAILURE, as for a damaged file. */
int record_info(const char *path, const char *format);
