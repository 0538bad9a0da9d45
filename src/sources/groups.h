/* Threads of another source added up. */
#ifndef CAMP_SOURCES_GROUPS_H
#define CAMP_SOURCES_GROUPS_H

#include "ledger/group.h"
#include "source.h"

/* By GROUP_PROCESS, GROUP_USER, GROUP_NAME or GROUP_CGROUP. Takes `threads` over: it is closed with
 * *ret, and when this fails. */
int groups_source_open(struct source *threads, enum group_key key, struct source **ret,
                       struct camp_error *error);

#endif
