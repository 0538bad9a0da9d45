/*
 * Rows of a frame added up: threads to processes, users, commands. Pure arithmetic.
 *
 * A row has either living or exited entities: the time of an exited process is never mixed into a
 * living one. An exited thread belongs to its process while that lives.
 */
#pragma once

#include "frame.h"

enum group_key {
    GROUP_NONE,    /* each row is its own */
    GROUP_THREAD,  /* as GROUP_NONE, but exited threads of one name are one row */
    GROUP_PROCESS, /* by pid; exited processes of one name are one row */
    GROUP_USER,    /* by uid */
    GROUP_NAME,    /* by the name of the row's process */
    GROUP_CGROUP,  /* by the id of its cgroup */
    GROUP_NUMBER,  /* by the caller's number */
    GROUP_LABEL    /* by the value of a label, living and exited entities together */
};

/* How rows are added up. */
struct grouping {
    enum group_key key;
    const int64_t *numbers; /* of GROUP_NUMBER: [entity_count] */
    size_t label;           /* of GROUP_LABEL: index in the schema's label_names */
};

/* Fills *ret, which may be all zero, with the rows of `frame` added up: elapsed times, states and
 * counters. `count` is the number of entities in a row, `id` the key of the group. Processes are
 * named after their first thread. A row has labels if all its entities have the same ones. A row of
 * GROUP_LABEL is named after the label's value ("(none)" without a value), and has that label
 * alone. CAMP_OK or CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, const struct grouping *grouping);
