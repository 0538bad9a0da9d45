/* Shared by the files of a session. */
#pragma once

#include "../counters/error.h"
#include "layout.h"

#include <camp/states.h>

#include <bpf/libbpf.h>

#include <stdbool.h>

#define CPUS_BYTES (CPUS_MAX * sizeof(struct cpu_account))

/* A thread of the last snapshot. */
struct known_thread {
    int32_t tid;
    uint32_t place;   /* index of the thread's record in session->records */
    uint64_t time_ns; /* end of the accounted time; its record may end before */
    uint32_t note;    /* the visitor's note on the thread */
    uint8_t state;
    bool is_first; /* the first thread of its process */
    bool has_ended;
};

struct camp_states {
    struct states_bpf *programs;
    const struct cpu_account *cpus; /* [CPUS_MAX], as the kernel writes them */
    /* The last snapshot, ascending by tid, to which the kernel reports changes. */
    struct known_thread *known; /* [known_count] */
    size_t known_count, known_capacity;
    struct camp_thread_states *records; /* [record_count]: each stays in its place */
    size_t record_count, record_capacity;
    uint32_t spare;     /* 1 + the first free record; 0: none */
    uint32_t snapshots; /* number of snapshots made */
    bool known_whole;   /* `known` holds all threads of the last snapshot */
    bool is_unordered;  /* the kernel shows threads in another order than by tid */
    struct ring_buffer *exits;
    const struct camp_states_visitor *visitor; /* receives exits; NULL: they are stored */
    /* The destination of exits while the ring is read. */
    struct camp_output taken;
    uint64_t added_up;  /* exits in totals seen so far */
    int totals_waiting; /* calls until all totals are read */
};

/* For ring_buffer__new(). */
int session_take_exit(void *context, void *record, size_t length);

/* The same thread in the last snapshot; NULL: not in it under this tid, or marked as exited there.
 */
struct known_thread *session_find_known(const struct camp_states *session,
                                        const struct camp_thread_states *thread);

bool session_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Grows a list, whose pointer is at `list`, to so many elements of `size` bytes. False: no memory,
 * and the list is unchanged. */
bool session_reserve(void *list, size_t *capacity, size_t count, size_t size);

/* A place for a record, uninitialised; it is freed when the thread is gone. False: no memory. */
bool session_take_place(struct camp_states *session, uint32_t *ret);
void session_free_place(struct camp_states *session, uint32_t place);

/* Stores the thread's current state in the place of `known`. */
void session_note_record(const struct camp_states *session, struct known_thread *known,
                         const struct camp_thread_states *thread);

/* The record of a thread, with the time in its state up to known->time_ns. */
struct camp_thread_states *session_record(const struct camp_states *session,
                                          const struct known_thread *known);

/* Passes all exits to the visitor. */
int session_tell_exits(struct camp_states *session, struct camp_error *error);

/* The first snapshot: gives every thread its account. */
int session_meet_all(struct camp_states *session, struct camp_error *error);
