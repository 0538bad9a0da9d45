/* Child processes that each use a little CPU time and exit. */
#pragma once

#include <camp/camp.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOAD_CHILDREN_MAX 256u /* at most this many children live at the same time */

struct load_children {
    intptr_t processes[LOAD_CHILDREN_MAX]; /* pids or handles; 0 marks a free place */
    /* [LOAD_CHILDREN_MAX] in memory shared with the children: the CPU time that each child reports,
     * 0 until the child has reported */
    _Atomic uint64_t *reported_ns;
    intptr_t section; /* the shared memory, on Windows */
};

/* What a child used, known after its exit. */
struct load_child_times {
    uint64_t reported_ns; /* by its own clock just before the exit; 0 if it was killed */
    uint64_t whole_ns;    /* with its exit */
    bool has_whole;       /* false on Wine: whole_ns is unknown */
};

int load_children_open(struct load_children *ret, struct camp_error *error);
void load_children_close(struct load_children *children);

/* Starts a child in a free place. The child uses the CPU until its CPU clock is at least burn_ns.
 * Returns false if a limit prevented it. */
bool load_child_start(struct load_children *children, unsigned place, uint64_t burn_ns);

/* Runs a child that load_child_start() started, if the arguments say so, because Windows has no
 * fork(2). Returns false otherwise, and always on Linux. */
bool load_child_command(int argc, char **argv, int *ret_status);

/* Returns whether the child has exited. If it has, releases its place and fills *ret. With `wait`,
 * waits for the exit. */
bool load_child_reap(struct load_children *children, unsigned place, bool wait,
                     struct load_child_times *ret);
