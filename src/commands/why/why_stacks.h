/* The stacks of a subject's sleeps, with names. */
#pragma once

#include "sources/causes/causes.h"
#include "symbols/symbols.h"
#include "views/stacks/stack_sums.h"
#include "why_tree.h"

/* An all-zero struct is empty. */
struct why_stacks {
    struct symbols *symbols; /* owned; made by why_stacks_fill() */
    /* Of the last interval: the first frame is the process name, if there is no subject; then the
     * state, then those of the thread and of the kernel. */
    struct stack_sums interval;
    /* Of all intervals; its first frame is always the name of the process. */
    struct stack_sums all;
    bool adds_up;         /* set by the caller: whether `all` is wanted */
    int64_t start_ns;     /* wall clock at the start of the first interval, in ns since 1970 */
    uint64_t duration_ns; /* of all intervals */
};

/* Reads what names of a process' functions need, for the case that it exits. Returns false if there
 * is no memory. */
bool why_stacks_watch(struct why_stacks *stacks, int32_t pid);

/* Fills stacks->interval with the sleeps of a group, or of all (WHY_ALL), the longest first, and
 * adds them to stacks->all. Returns false if there is no memory. */
bool why_stacks_fill(struct why_stacks *stacks, const struct causes *causes, uint32_t subject);

/* Writes stacks->all to stdout: folded, or as a profile for pprof. Returns an exit status. */
int why_stacks_write(struct why_stacks *stacks, bool as_profile);

/* Returns whether the kernel hides the names of its functions. */
bool why_stacks_hide_kernel(const struct why_stacks *stacks);

void why_stacks_release(struct why_stacks *stacks);
