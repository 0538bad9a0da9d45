/* A source whose frames begin with the row of all CPUs together, without that row: for what adds
 * entities up, or shows each as one of many, where the total beside its parts counts twice. */
#ifndef CAMP_SOURCES_PARTS_H
#define CAMP_SOURCES_PARTS_H

#include "source.h"

/* Has it frames of CPUs, of this machine or recorded? */
bool parts_has_total(const struct source *source);

/* Takes `whole` over: it is closed with *ret, and when this fails. CAMP_OK or CAMP_E_NOMEM. */
int parts_source_open(struct source *whole, struct source **ret);

#endif
