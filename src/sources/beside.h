/* What stands beside another source's frames, as a source. */
#ifndef CAMP_SOURCES_BESIDE_H
#define CAMP_SOURCES_BESIDE_H

#include "source.h"

/* source_beside(whole) is there, before its first frame as well. Takes `whole` over: it is closed
 * with *ret, and when this fails. CAMP_OK or CAMP_E_NOMEM. */
int beside_source_open(struct source *whole, struct source **ret);

#endif
