/* camp top on a terminal. top_live.c draws intervals, top_keys.c handles keys, and top_drill.c
 * shows the groups of one host of a fleet, or the rows of one group by labels. */
#pragma once

#include "top.h"

#define TOP_FILTER_SIZE 80
#define TOP_DRILL_PROBLEM_SIZE CAMP_ERROR_SIZE

/* While the parts of one row are shown, the groups of a host or the rows of a group: that row, and
 * what is needed to show all rows again. All members are zero while these are shown. */
struct top_drill {
    char host[CAMP_NAME_SIZE]; /* the name of the host or group; "" while all rows are shown */
    struct source *source;     /* of the hosts; NULL while the rows of a group are shown */
    struct label_value values[GROUPING_LABELS_MOST]; /* of the group, for top->selection.only */
    struct from_facts facts;
    struct frame_table table;
    int group;
    size_t order, scroll;
};

struct live {
    struct top *top;
    const struct frame *frame, *cpus;       /* the shown interval; NULL before the first interval */
    struct frame frozen_frame, frozen_cpus; /* owned copies of frame and cpus */
    struct top_drill drill;
    size_t scroll;
    size_t head_lines; /* of the headline that was drawn last, without the first line */
    bool over;         /* the source has no further interval */
    bool frozen, helping, triangle, ended;
    char filter[TOP_FILTER_SIZE], message[TOP_DRILL_PROBLEM_SIZE];
};

/* Applies a key, without drawing. */
void top_live_press(struct live *live, int key);

/* Returns whether the rows are hosts, which have groups, or groups by labels, which have rows. */
bool top_drill_can(const struct top *top);

/* Shows the groups of a host, from a source of their own, or the rows of a group. `wanted` is a
 * part of its name. If `wanted` is "", it is that in row *scroll. Returns false if nothing changed;
 * `problem` then says why. */
bool top_drill_down(struct top_drill *drill, struct top *top, const char *wanted, size_t *scroll,
                    char problem[TOP_DRILL_PROBLEM_SIZE]);

/* Shows all hosts or groups again. Returns false if they are already shown. */
bool top_drill_up(struct top_drill *drill, struct top *top, size_t *scroll);
