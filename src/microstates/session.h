/* What the files of a session share. */
#ifndef CAMP_MICROSTATES_SESSION_H
#define CAMP_MICROSTATES_SESSION_H

#include "layout.h"

#include <camp/states.h>

#include <bpf/libbpf.h>

#define CPUS_BYTES (CPUS_MAX * sizeof(struct cpu_account))

struct camp_states {
    struct states_bpf *programs;
    const struct cpu_account *cpus; /* [CPUS_MAX], as the kernel writes them */
    struct ring_buffer *exits;
    /* Where exits go while the ring is being read. */
    char *taken;
    size_t taken_size, taken_count, taken_capacity;
    uint64_t added_up;  /* exits in totals that were seen so far */
    int totals_waiting; /* calls until all totals are taken */
};

/* For ring_buffer__new(). */
int session_take_exit(void *context, void *record, size_t length);

/* The first snapshot: gives every thread its account. */
int session_meet_all(struct camp_states *session, struct camp_error *error);

#endif
