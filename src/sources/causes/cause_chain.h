/*
 * The chain of causes: what a group waited for most, what that waited for meanwhile, and so on.
 *
 * Each step is the largest cause of a group's waits; all waits for a CPU count as one. If it is the
 * wake-up by another group, the chain goes on with that group. It ends at a CPU, a device, a timer,
 * a signal, at a group that ran longer than any of its waits, at a group that the chain already
 * has, and at the wake-up by kernel threads, other processes or threads outside of the container,
 * which are many at once.
 *
 * Two kinds of causes are a step only if they are four times as large as any other: sleeps for a
 * timer of the first group, and waits for a lock that the group's own threads release.
 */
#pragma once

#include "causes.h"

#define CHAIN_MAX 16

enum chain_end {
    CHAIN_CAUSE,   /* the cause of the last step is no group, had the CPU, or is many groups */
    CHAIN_RUNS,    /* the last group ran longer than any of its waits */
    CHAIN_ITSELF,  /* the last group waited for a lock of its own threads */
    CHAIN_CIRCLE,  /* the last group is in the chain already */
    CHAIN_UNKNOWN, /* nothing ended the last group's waits */
    CHAIN_LONG     /* there are more than CHAIN_MAX steps */
};

struct chain_step {
    uint32_t group;
    struct cause cause; /* the largest of its waits; without time if there is none */
    uint64_t queue_ns;  /* all of its waits for a CPU, if that is the cause */
    uint64_t total_ns;  /* the time of the group in all states */
    uint64_t on_cpu_ns;
};

struct chain {
    struct chain_step steps[CHAIN_MAX];
    size_t count;
    enum chain_end end;
};

/* Fills *ret with the chain that starts at a group. It has at least one step. */
void cause_chain(struct chain *ret, const struct causes *causes, uint32_t group);

/* Returns whether sleeps of a group in a state may have ended after the interval to which their
 * time as CAUSE_NOT_ENDED belongs: several intervals are added up, and sleeps in this state ended
 * in one of them. `group` may be CAUSE_GROUPS or more: of any. */
bool cause_open_may_have_ended(const struct causes *causes, uint32_t group, uint32_t state);

/* Returns the longest sleep of a group that nothing has ended yet (CAUSE_NOT_ENDED), if it explains
 * why the group does nothing: with one thread, it is longer than any other time; with several
 * threads, they did almost nothing else. Otherwise returns NULL. */
const struct cause *cause_open_wait(const struct causes *causes, uint32_t group);
