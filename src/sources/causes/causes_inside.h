/* What the two live sources of causes share: one with a session of its own (causes.c), and one that
 * uses the session of a source of threads (threads_causes.c). */
#pragma once

#include "cause_cgroups.h"
#include "cause_groups.h"
#include "causes.h"
#include "sources/machine/thread_registry.h"

/* A reading of the session's ledger. */
struct reading {
    struct camp_wait_cause *causes;    /* [cause_count] */
    struct camp_wait_lengths *lengths; /* [length_count] */
    struct camp_call_sleeps *calls;    /* [call_count] */
    size_t cause_count, length_count, call_count;
    uint64_t unseen;
};

struct causes_source {
    const volatile sig_atomic_t *stop;
    struct camp_states *session;
    struct thread_registry registry;
    struct cause_groups groups;
    struct cause_cgroups cgroups;
    struct reading before, now;
    struct causes causes;
    struct cause_list differences;
    uint64_t released; /* set of the groups that were released after the last reading */
    bool has_stacks;
};

/* Returns false if there is no memory. */
bool causes_allocate(struct causes_source *ret);

/* Frees all but the session and *source. */
void causes_release(struct causes_source *source);

/* Starts an interval, in which causes_account() adds up what threads did. */
void causes_start(struct causes_source *source);

/* For thread_user: add to the states of a group. `context` is the source. Return CAMP_OK. */
int causes_account(void *context, const struct camp_thread_states *since, uint32_t group);
int causes_account_idle(void *context, uint32_t group, uint32_t state, uint64_t threads,
                        uint64_t wait_ns);

/* Reads the ledger into source->now, before a snapshot of the threads. */
int causes_read_ledger(struct causes_source *source, struct camp_error *error);

/* Sets the groups of threads from those that were read. `last` is the last reading of the causes.
 */
void causes_set_groups(struct causes_source *source, const struct reading *last);

/* Reads the groups before exited threads are read, which may be of new groups. */
int causes_read_groups(struct causes_source *source, struct camp_error *error);

/* Fills source->causes from the two readings and the states that were added up, and keeps the
 * reading for the next interval. source->causes has the times of the interval. */
int causes_finish(struct causes_source *source, struct camp_error *error);

/* Makes source->now the reading before the next interval. */
void causes_keep_reading(struct causes_source *source);
