/*
 * Adds up rows of a frame: threads to processes, users, commands and other groups.
 *
 * The time of an exited process is never added to that of a living one, except in GROUP_LABEL. An
 * exited thread belongs to its process as long as the process lives.
 */
#pragma once

#include "frame.h"

enum group_key {
    GROUP_NONE,
    GROUP_THREAD,  /* exited threads with the same name are one row */
    GROUP_PROCESS, /* by pid; exited processes with the same name are one row */
    GROUP_USER,
    GROUP_NAME,
    GROUP_CGROUP,
    GROUP_NUMBER, /* by a number that the caller gives for each row */
    GROUP_LABEL   /* by the value of a label; a group can have both living and exited entities */
};

struct grouping {
    enum group_key key;
    const int64_t *numbers; /* [entity_count], for GROUP_NUMBER only */
    size_t label;           /* index in the schema's label_names, for GROUP_LABEL only */
};

/* Fills *ret, which may be all zero, with one row for each group of `frame`. Elapsed times, states
 * and counters are added up. `count` is the number of entities in the group, and `id` the key of
 * the group. Processes are named after their first thread. A row keeps its labels if all entities
 * of the group have the same labels. A row of GROUP_LABEL has only the label of the group, and is
 * named after its value, or "(none)" without a value. Returns CAMP_OK or CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, const struct grouping *grouping);
