/*
 * Adds up rows of a frame: threads to processes, users, commands and other groups.
 *
 * Exited and living processes are never in one group, except with GROUP_LABEL.
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
    GROUP_NUMBER, /* by the numbers in grouping.numbers */
    GROUP_LABEL   /* by the value of a label; living and exited entities can be in one group */
};

struct grouping {
    enum group_key key;
    const int64_t *numbers; /* [entity_count] a number for each row, for GROUP_NUMBER only */
    size_t label;           /* index in the schema's label_names, for GROUP_LABEL only */
};

/* Fills *ret, which may be all zero, with one row for each group of `frame`: the sums of elapsed
 * times, of all columns and of `count`. `id` is the number of the group, such as the uid, or 0 if a
 * text identifies the group. A process is named after its first thread. A row has the labels
 * whose values are the same in all entities of the group. With GROUP_LABEL, a row has only the
 * label of the group, and its value as the name ("(none)" if it is empty). Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, const struct grouping *grouping);
