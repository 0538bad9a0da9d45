/* Sources that show a part of another source. Each function takes ownership of `whole`, which is
 * closed together with *ret, or at once after a failure. Each function returns CAMP_OK or
 * CAMP_E_NOMEM. */
#pragma once

#include "source.h"

/* Opens the second frame of a source (source_beside()), such as the CPUs beside threads. `whole`
 * must have a second frame even before its first interval. */
int beside_source_open(struct source *whole, struct source **ret);

/* Opens CPUs without the row of their total, because a caller that adds up all rows would count all
 * time twice. */
int parts_source_open(struct source *whole, struct source **ret);
