/* Entities of another source added up by one of their labels. */
#ifndef CAMP_SOURCES_LABEL_GROUPS_H
#define CAMP_SOURCES_LABEL_GROUPS_H

#include "source.h"

/* `label`: which of the schema's. A row has the label's value as its name, "(none)" without one,
 * and that label alone. Takes `whole` over: it is closed with *ret, and when this fails. */
int label_groups_open(struct source *whole, size_t label, struct source **ret);

#endif
