/* The frame beside another source's frames, as a source of its own. */
#pragma once

#include "source.h"

/* `whole` must have such a frame, also before its first one. Takes ownership of `whole`: it is
 * closed with *ret, and on failure. CAMP_OK or CAMP_E_NOMEM. */
int beside_source_open(struct source *whole, struct source **ret);
