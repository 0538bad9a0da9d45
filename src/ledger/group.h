/*
 * Rows of a frame added up: threads to processes, users, commands. Pure arithmetic.
 *
 * A row has either living or exited entities: the time of an exited process is never mixed into a
 * living one. An exited thread belongs to its process while that lives.
 */
#ifndef CAMP_LEDGER_GROUP_H
#define CAMP_LEDGER_GROUP_H

#include "frame.h"

enum group_key {
    GROUP_NONE,    /* each row is its own */
    GROUP_THREAD,  /* likewise, but exited threads of one name are one row */
    GROUP_PROCESS, /* by pid; exited processes of one name are one row */
    GROUP_USER,    /* by uid */
    GROUP_NAME,    /* by the name of the row's process */
    GROUP_CGROUP,  /* by the id of its cgroup */
    GROUP_NUMBER   /* by the caller's number */
};

/* Fills *ret, a frame of the same schema (after frame_init()), with the rows of `frame` added up by
 * `key`: elapsed times, states and counters; `count` is the number of threads of a row, `id` its
 * key. Processes are named after their first thread. A row has labels when all its members have the
 * same. `numbers`, for GROUP_NUMBER only, is [entity_count]. CAMP_OK or CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, enum group_key key,
                const int64_t *numbers);

#endif
