/* Reads recordings (camp record, docs/recording.md) as sources and as files. */
#pragma once

#include "format.h"
#include "sources/from.h"

/* Tells whether the text names a folder or ends in ".camp". */
bool recording_is_path(const char *text);

/* Opens a recording. If the path is a folder, or no file has this name, the files of
 * recording_set_find() are read as one source. Files that cannot be opened are skipped, and the
 * note tells their number. Otherwise the function is like recording_source_open(). */
int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

/*
 * Opens one file. A recorder may still be writing the file; the source ends after the last
 * committed interval. Rows are in the order in which their entities were first seen.
 *
 * Returns CAMP_E_FORMAT if the file is not a recording, was made by a newer camp, is empty or is
 * damaged; the message says which. The intact part of a damaged file is read first. Returns
 * CAMP_E_GONE if there is no such file.
 */
int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

uint64_t recording_file_size(const char *path);

/* The files of a recording that was rotated (camp record --rotate), the oldest first. */
struct recording_set {
    char **paths;     /* [count] */
    int64_t *times_s; /* [count] start of each file, from its name */
    size_t count, capacity;
};

/* Returns the length of the path without ".camp" at its end. */
size_t recording_stem_length(const char *path);

/* Finds the rotated files of the recording "run.camp", such as run-20261122T020000Z.camp. If the
 * path is a folder, finds all rotated files in it. Returns CAMP_OK even if there are no files or
 * the folder cannot be read. Returns CAMP_E_NOMEM if there is no memory. */
int recording_set_find(struct recording_set *ret, const char *path);

/* Finds the rotated files of the recording "run.camp" for a caller that removes some of them.
 * Unlike recording_set_find(), it does not find all files of a folder if `output` is a folder. */
int recording_set_find_made(struct recording_set *ret, const char *output);

/* Checks that the caller may search and list the folder. Returns CAMP_OK even if there is no such
 * file. */
int recording_set_check(const char *path, struct camp_error *error);

/* Tells whether all files have the same stem. In a folder, the stems may differ. */
bool recording_set_is_one(const struct recording_set *set);

void recording_set_release(struct recording_set *set);

/* Describes a file without its intervals. If the file is damaged, unknown texts are "" and unknown
 * numbers are -1. */
struct recording_info {
    char facts[RECORDING_FACT_COUNT][FRAME_NOTE_SIZE];
    int64_t begin_ns, end_ns; /* wall-clock start of the first interval, and end of the last one */
    int64_t intervals;
    /* median length of an interval; of two middle values, the shorter one */
    int64_t usual_ns;
    /* number of entities that ever had a row, without those of second frames (source_beside()) */
    int64_t entities;
    int64_t rows; /* number of rows of these entities in the file */
    /* Number of gaps. A gap is an interval longer than two median intervals, more than half a
     * median interval missing between two intervals, or a time that went back. */
    int64_t gaps;
    bool is_cut;
};

/* Reads the facts of a file. Returns CAMP_E_FORMAT if the file is not a recording or was made by a
 * newer camp. Returns CAMP_E_GONE if there is no such file. */
int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error);
