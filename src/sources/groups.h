/* Sources that add up the rows of another source. Each function takes ownership of that source, its
 * first argument: it is closed together with *ret, or at once after a failure. */
#pragma once

#include "ledger/group.h"
#include "source.h"

/* Adds up threads by GROUP_PROCESS, GROUP_USER, GROUP_NAME or GROUP_CGROUP. Returns CAMP_E_NOMEM,
 * or CAMP_E_NOTSUP if no cgroup2 file system is mounted. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error);

/* Adds up entities by the label at index `label` of the schema (label_groups.c). Each value of the
 * label has a row of that name; entities without the label are in the row "(none)". A row has only
 * this label, and the same id in every frame. Returns CAMP_OK or CAMP_E_NOMEM. */
int label_groups_open(struct source *whole, size_t label, struct source **ret);
