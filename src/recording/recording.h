/* Recordings (camp record, docs/recording.md) as sources. */
#ifndef CAMP_RECORDING_RECORDING_H
#define CAMP_RECORDING_RECORDING_H

#include "sources/from.h"

/* One file. It may be written meanwhile: what is committed when its end is reached is shown. Rows
 * are in the order in which their entities were first met.
 *
 * CAMP_E_FORMAT: it is no recording, of a newer camp, empty or damaged; the message says which. Of
 * a damaged one what is whole comes first. CAMP_E_GONE: there is no such file. */
int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error);

#endif
