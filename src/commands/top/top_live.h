/* camp top on a terminal: top_live.c draws intervals, top_keys.c changes what is shown, top_drill.c
 * shows the groups of one host of a fleet. */
#pragma once

#include "top.h"

#define TOP_FILTER_SIZE 80
#define TOP_DRILL_PROBLEM_SIZE CAMP_ERROR_SIZE

/* What camp top showed before it went from the hosts of a fleet to the groups of one host; all
 * zero: the hosts are shown. */
struct top_drill {
    char host[CAMP_NAME_SIZE]; /* the host whose groups are shown; "": none */
    struct source *source;
    struct from_facts facts;
    struct frame_table table;
    int group;
    size_t order, scroll;
};

struct live {
    struct top *top;
    const struct frame *frame, *cpus;       /* of the interval shown; NULL: not yet */
    struct frame frozen_frame, frozen_cpus; /* copies of frame and cpus; owned */
    struct top_drill drill;
    size_t scroll;
    bool over; /* the source has no further interval */
    bool frozen, helping, triangle, ended;
    char filter[TOP_FILTER_SIZE], message[TOP_DRILL_PROBLEM_SIZE];
};

/* Changes what the key stands for, without drawing it. */
void top_live_press(struct live *live, int key);

/* ------------------------------------------------------------------------ Groups of a host -- */

/* Are the rows hosts, which have groups? */
bool top_drill_can(const struct top *top);

/* Shows the groups of a host. `wanted`: a part of the host's name; "": the host in the first row
 * from `scroll` on. False: nothing changed, and `problem` says why. */
bool top_drill_down(struct top_drill *drill, struct top *top, const char *wanted, size_t *scroll,
                    char problem[TOP_DRILL_PROBLEM_SIZE]);

/* Shows the hosts again. False: they were shown already. */
bool top_drill_up(struct top_drill *drill, struct top *top, size_t *scroll);
