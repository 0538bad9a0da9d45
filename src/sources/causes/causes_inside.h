/* What the sources of causes share. causes.c reads the threads of its session itself;
 * threads_causes.c and causes_beside.c use a session whose threads another source, or the caller,
 * reads. */
#pragma once

#include "cause_cgroups.h"
#include "cause_groups.h"
#include "cause_objects.h"
#include "causes.h"
#include "open_sleeps.h"
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
    bool is_beside;   /* the session is that of causes_beside() */
    bool is_finished; /* the times in `causes` are those of a finished interval */
    bool has_stacks;
    bool reads_threads;     /* by itself, from its own session */
    bool reads_open_sleeps; /* of the watched group; each idle thread is visited then */
    bool names_open_sleeps; /* of the watched group, and those for file locks (open_facts) */
    struct thread_registry registry;
    struct cause_groups groups;
    struct cause_cgroups cgroups;
    struct reading before, now;
    struct causes causes;
    struct cause_list differences;
    uint32_t subject;               /* number of the watched group, or CAUSE_GROUPS */
    struct open_sleeps open_sleeps; /* its threads that sleep */
    struct cause_objects objects;   /* of `names_open_sleeps` */
    uint64_t released; /* set of the groups that were released, until others have their numbers */
};

/* Allocates a source without a session. Returns NULL if there is no memory. */
struct causes_source *causes_make_source(void);

/* Returns false if there is no memory. */
bool causes_allocate(struct causes_source *ret);

/* Frees all but the session and *source. */
void causes_release(struct causes_source *source);

/* Starts an interval, in which causes_did() and causes_waited() add up what threads did. */
void causes_clear_times(struct causes *causes);

/* The functions of struct thread_user. `context` is the source. */
int causes_member(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *thread, uint32_t *group);
int causes_did(void *context, const struct camp_thread_states *since, uint32_t group);
int causes_waited(void *context, uint32_t group, uint32_t state, uint64_t threads,
                  uint64_t wait_ns);

/* Returns the number of the watched group, or CAUSE_GROUPS. */
uint32_t causes_find_subject(const struct causes_source *source);

/* Notes a thread of the watched group that sleeps, or is stopped, at the end of the interval. */
void causes_note_sleep(struct causes_source *source, const struct camp_thread_states *thread,
                       uint32_t group, const struct open_sleep *sleep);

/* Sets source->causes.open_calls. Returns false if there is no memory. */
bool causes_find_open_calls(struct causes_source *source);

/* Reads the ledger into source->now, before a snapshot of the threads. */
int causes_read_ledger(struct causes_source *source, struct camp_error *error);

/* Sets the groups of threads from those that were read. `last` is the last reading of the causes.
 */
void causes_set_groups(struct causes_source *source, const struct reading *last);

/* Reads the groups before exited threads are read, which may be of new groups. */
int causes_read_groups(struct causes_source *source, struct camp_error *error);

/* Reads the ledger at the end of an interval, and finds the groups. */
int causes_end_interval(struct causes_source *source, struct camp_error *error);

/* Frees the numbers of groups that did nothing in the finished interval, if few are left. */
void causes_release_groups(struct causes_source *source);

/* Makes source->now the reading before the next interval. */
void causes_keep_reading(struct causes_source *source);
