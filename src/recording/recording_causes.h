/* Reads the causes of waits of a recording. */
#pragma once

#include "sources/causes/causes.h"

#include <sqlite3.h>

struct recording_causes;

bool recording_has_causes(sqlite3 *database);

/* Sets *ret to NULL if the file has no causes. Otherwise recording_causes_close() closes *ret. */
int recording_causes_open(struct recording_causes **ret, sqlite3 *database, const char *path,
                          struct camp_error *error);

/* Reads the causes in the interval of `frame`, whose number is `tick`. Each call must be for a
 * later interval than the one before, or for the same. Returns CAMP_E_FORMAT if the causes are
 * damaged: the frames of the file may be intact. *ret is valid until the next call. */
int recording_causes_read(struct recording_causes *causes, int64_t tick, const struct frame *frame,
                          const struct causes **ret, struct camp_error *error);

/* Accepts NULL. */
void recording_causes_close(struct recording_causes *causes);
