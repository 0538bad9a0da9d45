/* Recordings (camp record, docs/recording.md) as sources and as files. */
#pragma once

#include "format.h"
#include "sources/from.h"

/* Can the text be the path of a recording: a name that ends in .camp, or a folder? */
bool recording_is_path(const char *text);

/* Opens a recording. If there is no file of that name, the files that recording_set_find() finds
 * for it are one source; files that cannot be opened are skipped, and the note counts them.
 * Otherwise like recording_source_open(). */
int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

/* Opens one file. A recorder may still write it: the source ends after the last interval committed
 * by then. Rows are in the order in which their entities were first seen.
 *
 * CAMP_E_FORMAT: it is no recording, of a newer camp, empty or damaged; the message says which. The
 * intact part of a damaged file is read first. CAMP_E_GONE: there is no such file. */
int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

/* The size in bytes, with the transactions in the file's -wal. */
uint64_t recording_file_size(const char *path);

/* ------------------------------------------------------------------------- Rotated files -- */

/* The files of a recording that was rotated (camp record --rotate). */
struct recording_set {
    char **paths;     /* [count] the oldest first; owned: recording_set_release() */
    int64_t *times_s; /* [count] the start of each, from its name */
    size_t count, capacity;
};

/* The length of a path without ".camp" at its end. */
size_t recording_stem_length(const char *path);

/* Finds the files of "run.camp" (run-20261122T020000Z.camp and the like), or all files of a folder.
 * CAMP_OK, also when there are none, or when the folder cannot be read; or CAMP_E_NOMEM. */
int recording_set_find(struct recording_set *ret, const char *path);

/* Finds only the rotated files of the output "run.camp", for a caller that removes some of them. It
 * never finds all files of a folder, even if `output` is a folder. */
int recording_set_find_made(struct recording_set *ret, const char *output);

/* CAMP_OK also if there is no such file. It fails if the caller is not permitted to search or list
 * the folder. */
int recording_set_check(const char *path, struct camp_error *error);

/* Do all files have the same stem? In a folder they may differ. */
bool recording_set_is_one(const struct recording_set *set);

void recording_set_release(struct recording_set *set);

/* --------------------------------------------------------------------------- Information -- */

/* A file, without its intervals. An unknown text is "", and an unknown number -1, as is possible in
 * a damaged file. */
struct recording_info {
    char facts[RECORDING_FACT_COUNT][FRAME_NOTE_SIZE];
    int64_t begin_ns, end_ns; /* wall clock, of all intervals */
    int64_t intervals;
    int64_t usual_ns; /* the median length of an interval; of the two middle ones, the shorter */
    int64_t entities; /* that ever had a row, without the table beside */
    int64_t rows;     /* rows of these entities, as written */
    int64_t gaps; /* number of gaps: an interval longer than two usual ones; more than half a usual
                   * one missing between two intervals; or time that went back */
    bool is_cut;  /* the file is truncated */
};

/* Reads the facts of a file. CAMP_E_FORMAT: it is no recording, or one of a newer camp.
 * CAMP_E_GONE: there is no such file. */
int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error);
