/* Sources that add up the rows of another source, which is the first argument. The functions take
 * ownership of it: they close it after a failure, and otherwise *ret closes it. */
#pragma once

#include "ledger/group.h"
#include "source.h"

/* The state of a group of threads that has the waits of parked threads (ledger/active.h). */
extern const struct column parked_column;

/* Adds up threads. `key` is GROUP_PROCESS, GROUP_USER, GROUP_NAME or GROUP_CGROUP. Returns
 * CAMP_E_NOTSUP if cgroups are wanted, but no cgroup2 file system is mounted. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error);

/* Adds up the rows of `whole` by the labels of `grouping` (label_groups.c), whose key is
 * GROUP_LABEL. The new source has a row for each combination of their values; a row has only these
 * labels, the name of grouping_name(), and the same id in every frame. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int label_groups_open(struct source *whole, const struct grouping *grouping, struct source **ret);
