/* Rows of a frame added up: threads to processes, users, commands. Pure arithmetic. */
#ifndef CAMP_LEDGER_GROUP_H
#define CAMP_LEDGER_GROUP_H

#include "frame.h"

enum group_key {
    GROUP_NONE,    /* each row is its own */
    GROUP_PROCESS, /* by pid; ended ones of one name together */
    GROUP_USER,    /* by uid */
    GROUP_NAME     /* by the name of the row's process */
};

/* Fills *ret, a frame of the same schema (frame_init() was called), with the rows of `frame` added
 * up by `key`: elapsed times, states and counters; `count` is how many threads there are in a row.
 * Processes are named as their first thread. CAMP_OK or CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, enum group_key key);

#endif
