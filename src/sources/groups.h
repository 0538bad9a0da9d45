/* Threads of another source added up. */
#pragma once

#include "ledger/group.h"
#include "source.h"

/* By GROUP_PROCESS, GROUP_USER, GROUP_NAME or GROUP_CGROUP. Takes ownership of `threads`: it is
 * closed with *ret, and on failure. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error);
