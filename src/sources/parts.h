/* Sources that show a part of another source. Each function takes ownership of `whole`: it is
 * closed together with *ret, or at once on failure. CAMP_OK or CAMP_E_NOMEM. */
#pragma once

#include "source.h"

/* Opens the second frames of a source (source_beside()), such as the CPUs in snapshots of threads.
 * `whole` must have a second frame even before its first interval. */
int beside_source_open(struct source *whole, struct source **ret);

/* Opens CPUs without the row of their total: a consumer that adds up entities would count all time
 * twice. */
int parts_source_open(struct source *whole, struct source **ret);
