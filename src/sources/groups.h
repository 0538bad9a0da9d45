/* Sources that add up the entities of another source. Each function takes ownership of that source:
 * it is closed together with *ret, or at once on failure. */
#pragma once

#include "ledger/group.h"
#include "source.h"

/* Adds up threads by GROUP_PROCESS, GROUP_USER, GROUP_NAME or GROUP_CGROUP. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error);

/* Adds up entities by the label at index `label` of the schema (label_groups.c): a row for each
 * value, named by the value, or "(none)" for entities without one, with that label alone. A row has
 * the same id in every frame. CAMP_OK or CAMP_E_NOMEM. */
int label_groups_open(struct source *whole, size_t label, struct source **ret);
