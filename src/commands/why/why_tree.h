/*
 * The causes of a subject as a tree: state, cause, and the group or device that caused it. The
 * subject is one group, or all groups together.
 *
 * The parts of each node add up to it, in ns and in hundredths of a percent of the subject's time:
 * hundredths are rounded so that their sum is right (largest remainders).
 */
#pragma once

#include "sources/causes/causes.h"

#define WHY_ALL UINT32_MAX /* all groups */

enum why_level {
    WHY_STATE, /* a state, or the time on a CPU */
    WHY_CAUSE, /* a kind of cause */
    WHY_WHO    /* a group or a device */
};

struct why_node {
    enum why_level level;
    bool on_cpu;     /* at WHY_STATE: the time on a CPU; `state` has no meaning */
    uint32_t state;  /* enum camp_state */
    uint32_t kind;   /* from WHY_CAUSE on */
    uint32_t id;     /* at WHY_WHO */
    uint32_t merged; /* at WHY_WHO: so many more that are in this node; 0: it is only `id` */
    uint64_t time_ns;
    uint32_t hundredths;
};

struct why_tree {
    struct why_node *nodes; /* [count] each before its parts, the longest first */
    size_t count, capacity;
    uint64_t total_ns; /* time of all threads of the subject in all states */
    uint64_t threads;
};

/* Fills *ret. A node has at most `most` parts at the level of WHY_WHO (0: all); the last of them
 * has the rest. Returns false if there is no memory. */
bool why_tree_fill(struct why_tree *ret, const struct causes *causes, uint32_t group, size_t most);
void why_tree_release(struct why_tree *tree);

/* Shares the hundredths of a whole of `total_ns` out to parts[count], by largest remainders: they
 * add up to it if the times of the parts do. Also for other units than hundredths. */
void why_share_out(struct why_node *parts, size_t count, uint32_t hundredths, uint64_t total_ns);

/* Returns what a group inflicted on a group in the run queue, or on all others (WHY_ALL). */
uint64_t why_inflicted_ns(const struct causes *causes, uint32_t culprit, uint32_t victim);
