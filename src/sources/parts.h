/* Sources that show a part of the source `whole`. The functions take ownership of `whole`: they
 * close it after a failure, and otherwise *ret closes it. They return CAMP_OK or CAMP_E_NOMEM. */
#pragma once

#include "source.h"

/* Opens the frames that source_beside() returns for `whole`, such as the CPUs beside threads.
 * source_beside() must return a frame even before the first interval. */
int beside_source_open(struct source *whole, struct source **ret);

/* Opens CPUs without the row of their total, for callers that add up all rows. */
int parts_source_open(struct source *whole, struct source **ret);
