/* Recordings (camp record, docs/recording.md): as sources, as files, and what a file is. */
#pragma once

#include "sources/from.h"

/* Might the text be the path of a recording? A name that ends in .camp, or a folder. */
bool recording_is_path(const char *text);

/* A file; or where there is none of that name the files that recording_set_find() finds for it, one
 * after the other as one source. Of several, those that cannot be opened are passed over, and the
 * note says so. Otherwise as recording_source_open(). */
int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

/* One file. It may be written meanwhile: what is committed when its end is reached is shown. Rows
 * are in the order in which their entities were first met.
 *
 * CAMP_E_FORMAT: it is no recording, of a newer camp, empty or damaged; the message says which. Of
 * a damaged one what is whole comes first. CAMP_E_GONE: there is no such file. */
int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

/* ------------------------------------------------------------------------- Rotated files -- */

/* The files of a recording that was rotated (camp record --rotate). */
struct recording_set {
    char **paths;     /* [count] the oldest first; owned: recording_set_release() */
    int64_t *times_s; /* [count] when each begins, as its name says */
    size_t count, capacity;
};

/* The length of a path without ".camp" at its end. */
size_t recording_stem_length(const char *path);

/* Those of "run.camp": run-20261122T020000Z.camp and the like; of a folder: all in it. None at all
 * is CAMP_OK too, and so is a folder that cannot be read. */
int recording_set_find(struct recording_set *ret, const char *path);

/* Finds only the rotated files of the output "run.camp", for a caller that removes some of them:
 * none of another name, and never all files of a folder, even if `output` is a folder. */
int recording_set_find_made(struct recording_set *ret, const char *output);

/* CAMP_OK, also when there is no such file; a failure when the caller may not look for it, or not
 * list the folder. */
int recording_set_check(const char *path, struct camp_error *error);

/* Are all named after one? In a folder there may be more. */
bool recording_set_is_one(const struct recording_set *set);

void recording_set_release(struct recording_set *set);

/* --------------------------------------------------------------------------- Information -- */

#define RECORDING_TEXT_SIZE 256

/* What a file is, without reading its intervals. Texts are "" and numbers -1 where the file does
 * not say it (a damaged one may not). */
struct recording_info {
    char source[FRAME_NOTE_SIZE], kind[RECORDING_TEXT_SIZE], tier[RECORDING_TEXT_SIZE];
    char host[RECORDING_TEXT_SIZE], kernel[RECORDING_TEXT_SIZE], version[RECORDING_TEXT_SIZE];
    char schema[RECORDING_TEXT_SIZE], table[RECORDING_TEXT_SIZE], beside[RECORDING_TEXT_SIZE];
    char note[FRAME_NOTE_SIZE];
    int64_t begin_ns, end_ns; /* wall clock of its whole */
    int64_t intervals;
    int64_t usual_ns; /* the median length of an interval, of two the shorter */
    int64_t entities; /* that were ever in it; without what stands beside */
    int64_t rows;     /* that were written of them */
    int64_t gaps;     /* intervals of more than two usual ones, or half a usual one is missing
                       * between two, or time went back */
    bool is_cut;      /* it ends too early */
};

/* CAMP_E_FORMAT: it is no recording, or of a newer camp; CAMP_E_GONE: there is none. */
int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error);
