/* The files of a recording that was rotated (camp record --rotate): their names, and all of them as
 * one source. */
#ifndef CAMP_SOURCES_RECORDING_SET_H
#define CAMP_SOURCES_RECORDING_SET_H

#include "sources/from.h"

struct recording_set {
    char **paths;     /* [count] the oldest first; owned: recording_set_release() */
    int64_t *times_s; /* [count] when each begins, as its name says */
    size_t count;
};

/* The length of a path without ".camp" at its end. */
size_t recording_stem_length(const char *path);

/* Those of "run.camp": run-20261122T020000Z.camp and the like; of a folder: all in it. None at all
 * is CAMP_OK too, and so is a folder that cannot be read. */
int recording_set_find(struct recording_set *ret, const char *path);

/* Are all named after one? In a folder there may be more. */
bool recording_set_is_one(const struct recording_set *set);

void recording_set_release(struct recording_set *set);

#endif
