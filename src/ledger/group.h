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
    GROUP_LABEL   /* by the values of labels; living and exited entities can be in one group */
};

#define GROUPING_LABELS_MOST 4 /* of --group */

struct grouping {
    enum group_key key;
    const int64_t *numbers; /* [entity_count] a number for each row, for GROUP_NUMBER only */
    /* For GROUP_LABEL only: an index in the schema's label_names, and more_count further ones. */
    size_t label;
    size_t more_labels[LABELS_MOST - 1];
    size_t more_count;
    const char *title; /* of the groups by several labels, such as "application,server" */
};

/* Returns whether GROUP_LABEL groups by this label. */
bool grouping_has_label(const struct grouping *grouping, size_t label);

/* Returns `labels` with only the values by which GROUP_LABEL groups, or LABELS_NONE if they are all
 * empty. */
labels_id grouping_labels(const struct grouping *grouping, labels_id labels);

/* Writes the name of a group by GROUP_LABEL: the values, in the order of the grouping, joined by
 * ", ". An empty value is "(none)". */
void grouping_name(const struct grouping *grouping, labels_id labels, char ret[CAMP_NAME_SIZE]);

/* Fills *ret, which may be all zero, with one row for each group of `frame`: the sums of elapsed
 * times, of all columns and of `count`. `id` is the number of the group, such as the uid, or 0 if a
 * text identifies the group. A process is named after its first thread. A row has the labels
 * whose values are the same in all entities of the group. With GROUP_LABEL, a row has only the
 * labels of the group, and the name of grouping_name(). Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int group_frame(struct frame *ret, const struct frame *frame, const struct grouping *grouping);
