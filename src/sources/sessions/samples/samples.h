/*
 * A source that makes frames of samples of sessions that another program took (sample_columns.h).
 *
 * All samples of one moment are a frame, which begins at the moment of the frame before. A sample
 * counts for the time since the moment before it. If this is more than one and a half periods, some
 * samples are missing, and it counts for one period.
 *
 * A session lasts from its first sample to its last one. At a moment without a sample of it, it was
 * not active, so it was idle. Of time without any moment nothing is known; but if the samples are
 * numbered, and there are samples without a row in this time, no session was active.
 *
 * A table without ids of sessions has rows for what its texts tell apart, such as statements. Their
 * real time is that of their samples, so they are never idle.
 *
 * The period is the usual shortest time between two moments: one tenth of the times are not longer.
 * Samples of several instances are of one moment if less than half a period is between them.
 */
#pragma once

#include "sources/tables/rows.h"

/* Opens the rows of a table of any form: as samples if the header is that of samples, and otherwise
 * with table_source_open(), whose contract this function has. */
int samples_or_table_open(struct rows *rows, const char *name, const struct from *from,
                          struct source **ret, struct from_facts *facts, struct camp_error *error);
