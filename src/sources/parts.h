/* A source without the row of all CPUs together, which comes first in each frame: a consumer that
 * adds entities up, or shows each as one of many, would count the total twice. */
#pragma once

#include "source.h"

/* Whether its frames are of CPUs, of this machine or recorded. */
bool parts_has_total(const struct source *source);

/* Takes ownership of `whole`: it is closed with *ret, and on failure. CAMP_OK or CAMP_E_NOMEM. */
int parts_source_open(struct source *whole, struct source **ret);
