/* What the files that read causes share. causes.c reads the threads of its session itself, and
 * causes_beside.c those of a session whose threads the caller reads. */
#pragma once

#include "cause_groups.h"
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
    struct thread_registry registry;
    struct cause_groups groups;
    struct reading before, now;
    struct causes causes;
    struct cause_list differences;
};

/* Allocates a source without a session. Returns NULL if there is no memory. */
struct causes_source *causes_make_source(void);

/* Reads the ledger at the end of an interval, and finds the groups. */
int causes_end_interval(struct causes_source *source, struct camp_error *error);

void causes_clear_times(struct causes *causes);

/* The functions of struct thread_user. `context` is the source. */
int causes_member(void *context, const struct camp_thread_states *before,
                  const struct camp_thread_states *thread, uint32_t *group);
int causes_did(void *context, const struct camp_thread_states *since, uint32_t group);
int causes_waited(void *context, uint32_t group, uint32_t state, uint64_t threads,
                  uint64_t wait_ns);
