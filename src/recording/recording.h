/* Opens recordings (camp record, docs/recording.md) as sources, finds their files, and describes a
 * file. */
#pragma once

#include "format.h"
#include "sources/from.h"

/* Returns whether the text names a folder or ends in ".camp". */
bool recording_is_path(const char *text);

/* Opens a recording. If `path` is a file, calls recording_source_open(). Otherwise reads the files
 * of recording_set_find() as one source. Files that cannot be opened are skipped, and
 * ret_facts->note tells their number. */
int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

/*
 * Opens one file. A recorder may still be writing the file; the source ends after the last
 * committed interval. Rows are in the order in which their entities were first seen.
 *
 * Returns CAMP_E_GONE if there is no such file, or no interval in it. Returns CAMP_E_FORMAT if the
 * file is not a recording, was made by a newer camp or is damaged; `error` says which. If a damaged
 * file has an intact part, the source returns CAMP_E_FORMAT only after that part.
 */
int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

uint64_t recording_file_size(const char *path);

/* Deletes a recording, and its -wal, -shm and -journal files. */
void recording_remove(const char *path);

/* Deletes only the -wal, -shm and -journal files of a recording. */
void recording_remove_beside(const char *path);

/* The files of a recording that was rotated (camp record --rotate), the oldest first. */
struct recording_set {
    char **paths;     /* [count] */
    int64_t *times_s; /* [count] start of each file, from its name */
    size_t count, capacity;
};

/* Returns the length of the path without ".camp" at its end. */
size_t recording_stem_length(const char *path);

/* Finds rotated files: for the path "run.camp", files such as run-20261122T020000Z.camp; for a
 * folder, all rotated files in it. Returns CAMP_OK even if there are no files or the folder cannot
 * be read. Returns CAMP_E_NOMEM if there is no memory. */
int recording_set_find(struct recording_set *ret, const char *path);

/* Finds the files that a recorder with --rotate made for the path `output`, such as "run.camp",
 * even if there is a folder of this name. A caller may remove the files, because they all belong to
 * one recording. */
int recording_set_find_made(struct recording_set *ret, const char *output);

/* Like recording_set_find_made(), and also finds files of another kind that belong to the
 * recording: with the suffix ".perfetto-trace", files such as run-20261122T020000Z.perfetto-trace.
 * Reads the folder once. `ret_others` may be NULL. The caller releases both sets in any case. */
int recording_set_find_both(struct recording_set *ret, struct recording_set *ret_others,
                            const char *output, const char *suffix);

/* Checks that the caller may access the path and, if it is a folder, list it. Returns CAMP_OK if
 * the path does not exist. */
int recording_set_check(const char *path, struct camp_error *error);

/* Returns whether all files belong to one recording. A folder may have the files of several
 * recordings. */
bool recording_set_is_one(const struct recording_set *set);

void recording_set_release(struct recording_set *set);

#define RECORDING_LABELS_SIZE 512 /* further names are left out */

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
    int64_t rows; /* number of rows in the file, without those of second frames */
    /* Number of gaps. A gap is an interval longer than two median intervals, a pause between two
     * intervals longer than half a median interval, or a time that went back. */
    int64_t gaps;
    bool has_causes;                    /* of waits */
    char labels[RECORDING_LABELS_SIZE]; /* names of the rows' labels: "container;pod;unit", or "" */
    bool is_cut;                        /* the file ends too early */
    /* A file with damaged content may have intervals that cannot be read. Only
     * recording_info_read() searches for all damage, and counts these intervals, because it takes
     * long. */
    bool is_damaged;
    int64_t readable; /* number of intervals that a source of the file reads */
};

/* Reads the facts of a file, and checks the whole file for damage. Returns CAMP_E_FORMAT if the
 * file is not a recording or was made by a newer camp. Returns CAMP_E_GONE if there is no such
 * file, or no interval in it. */
int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error);
