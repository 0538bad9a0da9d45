/* Which rows of a tree of blockers a text shows, and what the others add up to. */
#pragma once

#include "ledger/blockers/blocker_tree.h"

/* A row for the nodes below one node that are not shown. */
struct why_hidden {
    uint32_t depth;                   /* of the nodes that it stands for, whose parent is shown */
    size_t count;                     /* of them, and of all below them */
    uint64_t blocked_ns, measured_ns; /* sums of all these */
};

/* Calls `show` for nodes of the tree in their order, and `hide` after the last node below a node
 * that has others. Each node is shown or is in one sum, so all blocked_ns add up to those of the
 * tree. At most `most` nodes below each node are shown, and WHY_SHOWN_TIMES * most in all: those
 * with most time, which have all nodes above them. All are shown if `most` is 0. CAMP_OK or
 * CAMP_E_NOMEM. */
#define WHY_SHOWN_TIMES 4
int why_shown_each(const struct blocker_tree *tree, size_t most,
                   void (*show)(void *context, size_t node),
                   void (*hide)(void *context, const struct why_hidden *hidden), void *context);
