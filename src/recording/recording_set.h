/* The files of a recording that was rotated (camp record --rotate): their names, and all of them as
 * one source. */
#ifndef CAMP_RECORDING_RECORDING_SET_H
#define CAMP_RECORDING_RECORDING_SET_H

#include "sources/from.h"

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

#endif
