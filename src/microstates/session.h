/* What the files of a session share. */
#ifndef CAMP_MICROSTATES_SESSION_H
#define CAMP_MICROSTATES_SESSION_H

#include "layout.h"

#include <camp/states.h>

#include <bpf/libbpf.h>

#include <stdbool.h>

#define CPUS_BYTES (CPUS_MAX * sizeof(struct cpu_account))

struct camp_states {
    struct states_bpf *programs;
    const struct cpu_account *cpus; /* [CPUS_MAX], as the kernel writes them */
    /* The last snapshot, ascending by tid, of which the kernel tells what changed. */
    struct camp_thread_states *known; /* [known_count] */
    size_t known_count, known_capacity;
    uint32_t snapshots; /* how many were made */
    bool known_whole;   /* `known` is all of the last one */
    struct ring_buffer *exits;
    const struct camp_states_visitor *visitor; /* whom exits are told; NULL: they are taken */
    /* Where exits go while the ring is being read. */
    char *taken;
    size_t taken_size, taken_count, taken_capacity;
    uint64_t added_up;  /* exits in totals that were seen so far */
    int totals_waiting; /* calls until all totals are taken */
};

/* For ring_buffer__new(). */
int session_take_exit(void *context, void *record, size_t length);

/* The same thread in the last snapshot; NULL: it was not in it under this tid, or is marked as
 * ended there. */
struct camp_thread_states *session_find_known(const struct camp_states *session,
                                              const struct camp_thread_states *thread);

/* Tells the visitor of all that ended. */
int session_tell_exits(struct camp_states *session, struct camp_error *error);

/* The first snapshot: gives every thread its account. */
int session_meet_all(struct camp_states *session, struct camp_error *error);

#endif
