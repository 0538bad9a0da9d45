/* The causes of several intervals added up, such as those of a recording. Groups are the same if
 * they have the same name or process, whatever their numbers are: each file of a recording may have
 * others. */
#pragma once

#include "causes.h"
#include "ledger/index.h"

/* An all-zero struct is an empty sum. Before the first call, the caller may set the subject. */
struct cause_sum {
    /* A group that always has a number, even if more than CAUSE_GROUPS others come first: all
     * processes with a name, or a process. NULL and 0: none. */
    const char *subject;
    int32_t subject_pid;
    /* The times run from 0 to the length of all intervals, and wall_clock_ns is that of the last
     * one. `threads` are the most in one interval. */
    struct causes causes;
    /* The first groups of all intervals, also of those before cause_sum_clear(). Their numbers mean
     * nothing. */
    struct camp_states_group met[CAUSE_GROUPS]; /* [met_count] */
    size_t met_count;
    uint64_t intervals;
    uint64_t total_ns;              /* of all states of all groups */
    uint64_t call_ns;               /* of all calls */
    uint64_t open_ns;               /* of all sleeps that have not ended */
    uint32_t numbers[CAUSE_GROUPS]; /* the number in the sum, of each number in the last interval */
    struct index rows, calls, open;
    size_t name_capacity, open_capacity;
};

/* Adds an interval. Groups for which there is no number are other processes. Returns CAMP_E_NOMEM;
 * CAMP_E_FORMAT if the sum is above 2^62 ns. *sum is then of no use. */
int cause_sum_add(struct cause_sum *sum, const struct causes *more, struct camp_error *error);

/* Sorts the rows, and returns the sum. The next call for the sum must be cause_sum_clear() or
 * cause_sum_release(). */
const struct causes *cause_sum_finish(struct cause_sum *sum);

/* Makes the sum empty, except for the group of the subject. */
void cause_sum_clear(struct cause_sum *sum);
void cause_sum_release(struct cause_sum *sum);
