/*
 * The cause of a finding: the part that comes from the causes of waits (sources/causes/causes.h),
 * so that `camp why` shows the same numbers of the same time.
 */
#pragma once

#include "sources/causes/cause_names.h"

#include <stdbool.h>

#define CAUSE_CHAIN_SIZE 384

/* A group of threads, the state in which it waited, and the cause. All texts are foreign. */
struct finding_cause {
    char waiter[CAUSE_NAME_SIZE]; /* the group that waited; "": no cause was found */
    /* What camp why takes for that group: its name, or its pid. "" if it is many groups, or a
     * name of digits. */
    char operand[CAMP_STATES_NAME_SIZE];
    char by[CAUSE_NAME_SIZE]; /* as it stands in a sentence: "batch", "a timer" */
    /* What `by` did meanwhile: ", which ran for 95.0 % of its time", or "". */
    char chain[CAUSE_CHAIN_SIZE];
    int32_t pid;        /* of the waiter, if it is one process; otherwise 0 */
    uint32_t state;     /* enum camp_state */
    uint32_t kind;      /* of the cause: cause_kind_key() */
    uint64_t wait_ns;   /* of the waiter in this state for this cause */
    uint64_t total_ns;  /* of the waiter in all states */
    double explained_s; /* the length of the explained time */
};

struct evidence;

/* Returns whether a group is all processes with one name, or one process. */
bool cause_group_is_one(const struct causes *causes, uint32_t group);

/* Returns whether a rule may name the group as the one that waited: it is a name or a process, and
 * with --pid one of these processes. */
bool cause_is_of_one(const struct evidence *evidence, uint32_t group);

/* Writes what camp why takes to show a group: a pid, or a name that is no number. Otherwise "". */
void cause_operand(char ret[CAMP_STATES_NAME_SIZE], const struct camp_states_group *group);

/* Returns the wait as a share of the waiter's time, or 0. */
static inline double finding_cause_share(const struct finding_cause *cause)
{
    return cause->total_ns > 0 ? (double)cause->wait_ns / (double)cause->total_ns : 0;
}

/* Fills *ret from a row of the causes of the evidence. */
void finding_cause_fill(struct finding_cause *ret, const struct evidence *evidence,
                        const struct cause *row);

/* Fills *ret with the largest cause of the waits in one of `states` (bits 1 << enum camp_state)
 * that the threads of a process had. Leaves *ret unchanged if that process, or its name, has no
 * causes. Sleeps that have not ended, and unattributed time, are no causes here. */
void finding_cause_of(struct finding_cause *ret, const struct evidence *evidence, int64_t pid,
                      const char *name, uint32_t states);
