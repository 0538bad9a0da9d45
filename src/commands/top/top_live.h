/* What the parts of camp top on a terminal know of each other: top_live.c (intervals, drawn),
 * top_keys.c. */
#pragma once

#include "top.h"
#include "top_drill.h"

#define TOP_FILTER_SIZE 80

struct live {
    struct top *top;
    const struct frame *frame, *cpus;       /* of the interval shown; NULL: not yet */
    struct frame frozen_frame, frozen_cpus; /* a copy of it; owned */
    struct top_drill drill;
    size_t scroll;
    bool over; /* the source has no further interval */
    bool frozen, helping, triangle, ended;
    char filter[TOP_FILTER_SIZE], message[TOP_DRILL_PROBLEM_SIZE];
};

/* What a key changes; it is not drawn yet. */
void top_live_press(struct live *live, int key);
