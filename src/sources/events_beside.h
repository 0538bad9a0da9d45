/* Database sessions with their time by wait event beside them, for recordings. */
#pragma once

#include "source.h"

/* Sets the division SOURCE_DIVISION_BESIDE of `sessions`. The new source has the same frames.
 * source_beside() has the rows by wait event, added up: a row for each combination of the labels
 * that stay with a session. These are all but the pids of leaders and blockers. A row has the same
 * id in every frame. Takes ownership of `sessions`. Returns CAMP_OK or CAMP_E_NOMEM. */
int events_beside_open(struct source *sessions, struct source **ret);
