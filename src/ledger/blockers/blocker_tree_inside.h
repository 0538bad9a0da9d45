/* Shared by blocker_tree.c, which adds frames, and blocker_nodes.c, which makes nodes of them. */
#pragma once

#include "blocker_tree.h"

/* How long one session waited for another one, with the root of that wait. */
struct blocker_edge {
    int64_t root, blocker, waiting;
    uint64_t ns;
    uint64_t measured_ns; /* part of it */
    bool is_shown;
};

/* Compares struct blocker_session by id: a key with an element of tree->sessions. */
int blocker_tree_compare(const void *key, const void *element);
