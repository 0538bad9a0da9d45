/*
 * Rows of a frame added up: threads to processes, users, commands. Pure arithmetic.
 *
 * A row is of the living or of those that ended, never of both: what a process that is gone did is
 * not mixed into one that is there. A thread that ended is part of its process while that lives.
 */
#ifndef CAMP_LEDGER_GROUP_H
#define CAMP_LEDGER_GROUP_H

#include "frame.h"

enum group_key {
    GROUP_NONE,    /* each row is its own */
    GROUP_THREAD,  /* likewise, but ended ones of one name are together */
    GROUP_PROCESS, /* by pid; ended ones of one name are together */
    GROUP_USER,    /* by uid */
    GROUP_NAME,    /* by the name of the row's process */
    GROUP_CGROUP,  /* by the id of its cgroup */
    GROUP_NUMBER   /* by the number that the caller gave it */
};

/* Fills *ret, a frame of the same schema (frame_init() was called), with the rows of `frame` added
 * up by `key`: elapsed times, states and counters; `count` is how many threads there are in a row,
 * `id` what it is grouped by. Processes are named as their first thread. A row has
 * labels when all in it have the same. `numbers`, of GROUP_NUMBER
 * only, is [entity_count]. CAMP_OK or CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, enum group_key key,
                const int64_t *numbers);

#endif
