/* What the files of a session share. */
#ifndef CAMP_MICROSTATES_SESSION_H
#define CAMP_MICROSTATES_SESSION_H

#include "layout.h"

#include <camp/states.h>

#include <bpf/libbpf.h>

#include <stdbool.h>

#define CPUS_BYTES (CPUS_MAX * sizeof(struct cpu_account))

/* A thread of the last snapshot. */
struct known_thread {
    int32_t tid;
    uint32_t place;   /* of its record in session->records */
    uint64_t time_ns; /* it has been in its state until then, beyond what is in its record */
    uint32_t note;    /* the visitor's */
    uint8_t state;
    bool is_first; /* of its process */
    bool has_ended;
};

struct camp_states {
    struct states_bpf *programs;
    const struct cpu_account *cpus; /* [CPUS_MAX], as the kernel writes them */
    /* The last snapshot, ascending by tid, of which the kernel tells what changed. */
    struct known_thread *known; /* [known_count] */
    size_t known_count, known_capacity;
    struct camp_thread_states *records; /* [record_count]: each stays in its place */
    size_t record_count, record_capacity;
    uint32_t spare;     /* 1 + the first free one of them; 0: there is none */
    uint32_t snapshots; /* how many were made */
    bool known_whole;   /* `known` is all of the last one */
    bool is_unordered;  /* the kernel shows threads in another order than by tid */
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
struct known_thread *session_find_known(const struct camp_states *session,
                                        const struct camp_thread_states *thread);

bool session_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* A list, whose pointer is at `list`, with room for so many of `size` bytes each. False: no memory,
 * and the list is as it was. */
bool session_reserve(void *list, size_t *capacity, size_t count, size_t size);

/* A place for a record, which is not set; it is given back when the thread is gone. False: no
 * memory. */
bool session_take_place(struct camp_states *session, uint32_t *ret);
void session_free_place(struct camp_states *session, uint32_t place);

/* The thread as it is now, in the place that `known` has. */
void session_note_record(const struct camp_states *session, struct known_thread *known,
                         const struct camp_thread_states *thread);

/* Its record, brought up to its time. */
struct camp_thread_states *session_record(const struct camp_states *session,
                                          const struct known_thread *known);

/* Tells the visitor of all that ended. */
int session_tell_exits(struct camp_states *session, struct camp_error *error);

/* The first snapshot: gives every thread its account. */
int session_meet_all(struct camp_states *session, struct camp_error *error);

#endif
