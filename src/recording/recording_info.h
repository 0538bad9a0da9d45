/* What a file of a recording is, without reading its intervals. */
#ifndef CAMP_RECORDING_RECORDING_INFO_H
#define CAMP_RECORDING_RECORDING_INFO_H

#include "recording_set.h"

#define RECORDING_TEXT_SIZE 256

/* Texts are "" and numbers -1 where the file does not say it (a damaged one may not). */
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

#endif
