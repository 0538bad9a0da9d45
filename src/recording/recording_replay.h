/* A recording by its path: a file, or all files of one that was rotated. */
#ifndef CAMP_RECORDING_RECORDING_REPLAY_H
#define CAMP_RECORDING_RECORDING_REPLAY_H

#include "sources/from.h"

/* Might the text be the path of a recording? A name that ends in .camp, or a folder. */
bool recording_is_path(const char *text);

/* A file; or where there is none of that name the files that recording_set_find() finds for it, one
 * after the other as one source. Of several, those that cannot be opened are passed over, and the
 * note says so. Otherwise as recording_source_open(). */
int recording_replay_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

#endif
