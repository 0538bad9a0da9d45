/* Entities of another source added up. Each function takes ownership of that source, which is
 * closed with *ret, and on failure. */
#pragma once

#include "ledger/group.h"
#include "source.h"

/* Threads by GROUP_PROCESS, GROUP_USER, GROUP_NAME or GROUP_CGROUP. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error);

/* Entities by a label, the schema's number `label` (label_groups.c): a row for each value, named by
 * it, "(none)" without one, with that label alone. Its id is the same in each frame. CAMP_OK or
 * CAMP_E_NOMEM. */
int label_groups_open(struct source *whole, size_t label, struct source **ret);
