/* camp top on a terminal, one step down: from the hosts of a fleet to the groups of one, and back.
 */
#pragma once

#include "top.h"

#define TOP_DRILL_PROBLEM_SIZE CAMP_ERROR_SIZE

/* What stood there before; all zero: it is the upper one that is shown. */
struct top_drill {
    char host[CAMP_NAME_SIZE]; /* whose groups are shown; "": nobody's */
    struct source *source;
    struct from_facts facts;
    struct frame_table table;
    int group;
    size_t order, scroll;
};

/* Are the rows hosts, which have groups? */
bool top_drill_can(const struct top *top);

/* Shows the groups of a host: `wanted` is a part of its name; "": the first row from `scroll` on.
 * False: it stays as it was, `problem` says why. */
bool top_drill_down(struct top_drill *drill, struct top *top, const char *wanted, size_t *scroll,
                    char problem[TOP_DRILL_PROBLEM_SIZE]);

/* What stood there before. False: nothing did. */
bool top_drill_up(struct top_drill *drill, struct top *top, size_t *scroll);
