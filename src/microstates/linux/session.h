/* What session.c, known.c, snapshot.c and read.c share. */
#pragma once

#include "counters/error.h"
#include "culprits_layout.h"
#include "layout.h"

#include <camp/states.h>

#include <bpf/libbpf.h>

#include <stdbool.h>

struct kernel_types;

struct known_thread {
    int32_t tid;
    uint32_t place;
    uint64_t time_ns; /* end of the accounted time; may be later than time_ns of the record */
    uint32_t note;
    uint8_t state;
    bool is_first;
    bool has_ended;
};

struct tid_list {
    int32_t *tids; /* [count], owned */
    size_t count, capacity;
};

struct camp_states {
    struct states_bpf *programs;
    const struct cpu_account *cpus; /* [cpu_count], written by the kernel */
    uint32_t cpu_count;             /* 1 + the highest number that a CPU of this machine can have */
    /* The threads of the last snapshot, in ascending order of tids. The kernel reports only changes
     * since that snapshot. */
    struct known_thread *known; /* [known_count] */
    size_t known_count, known_capacity;
    struct camp_thread_states *records; /* [record_count]; a record never changes its index */
    size_t record_count, record_capacity;
    uint32_t spare;     /* 1 + index of the first free record, or 0 */
    uint32_t snapshots; /* by the iterator */
    /* Whether snapshots read only the threads in the list of changes. */
    bool lists_changes;
    uint64_t changes_read;      /* number of entries of the list that are done */
    struct tid_list orphaned;   /* processes whose children the next snapshot reads again */
    struct tid_list read_again; /* threads that the next snapshot reads in any case */
    uint64_t idle_until_ns; /* start of the last snapshot: idle threads are accounted until then */
    struct camp_states_known knows;
    bool has_disks;         /* whether waits for disks are counted */
    uint32_t watched_count; /* groups from GROUPS_NAMED on */
    bool has_causes;        /* CAMP_STATES_CULPRITS; the three below are NULL without it */
    const struct queue_account *queues;  /* [cpu_count], written by the kernel */
    const struct sleeps *sleeps;         /* [GROUPS_MAX], written by the kernel */
    struct distributions *distributions; /* [GROUPS_MAX], written by the kernel, too */
    bool has_stacks;                     /* CAMP_STATES_STACKS */
    struct stacks *stacks;               /* owned; NULL without it */
    struct charges *charges; /* of the last reading, owned; NULL without CAMP_STATES_CULPRITS */
    uint64_t torn_copies;    /* readings of causes that a switch changed at each attempt */
    /* Set of the groups that are released, and of which no other name has the number yet. */
    uint64_t released_groups;
    bool known_whole;  /* whether `known` holds all threads of the last snapshot */
    bool is_unordered; /* whether a tid was out of order; if so, records are sorted */
    struct ring_buffer *exits;
    /* receives the exits; NULL if `taken` receives them */
    const struct camp_states_visitor *visitor;
    struct camp_output taken;
    uint64_t added_up;  /* sum of exits_added_up of all CPUs at the last call of take_totals() */
    int totals_waiting; /* how often take_totals() must still be called to read all totals */
};

/* Opens the programs that keep the ledger of causes, or those that do not. Returns NULL if there is
 * no memory. */
struct states_bpf *camp_causes_open_programs(bool has_causes, struct bpf_object_open_opts *options);

/* Fills *error for a session without CAMP_STATES_CULPRITS. Returns CAMP_E_INVALID. */
int camp_fail_without_causes(struct camp_error *error);

/* Decides whether the programs of causes are loaded, before they are (causes.c). Errors:
 * CAMP_E_NOTSUP (the kernel lacks an event). */
int camp_causes_prepare(struct camp_states *session, const struct kernel_types *kernel,
                        uint32_t options, struct camp_error *error);

/* Maps the ledger of causes after the programs were loaded, before they are attached. Errors:
 * CAMP_E_NOMEM. */
int camp_causes_begin(struct camp_states *session, struct camp_error *error);
void camp_causes_end(struct camp_states *session);

/* Lets other names have the numbers of the groups in the set `released` (1 << number), if no thread
 * waits, or has a CPU, as one of such a group any more. Call it after a reading of the ledger, with
 * the groups that were released before it. */
void camp_causes_free_groups(struct camp_states *session, uint64_t released);

/* Makes session->charges, which free(3) frees. Returns false if there is no memory. */
bool camp_causes_make_charges(struct camp_states *session);

int camp_session_take_exit(void *context, void *record, size_t length);

/* Returns the thread's entry in the list of the last snapshot, or NULL if there is none or if the
 * thread's exit was already reported. */
struct known_thread *camp_session_find_known(const struct camp_states *session,
                                             const struct camp_thread_states *thread);

/* False if a record has an unknown state, which would be an index out of range, or a name without
 * an end. camp's own programs in the kernel do not write such a record. */
bool camp_session_is_sound(const struct camp_thread_states *thread);

/* The result if a record is not sound. */
int camp_session_fail_damaged(struct camp_error *error);

bool camp_session_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Grows the list whose pointer is stored at `list` to at least `count` elements of `size` bytes.
 * Returns false if there is no memory; the list is then unchanged. */
bool camp_session_reserve(void *list, size_t *capacity, size_t count, size_t size);

/* Sets *ret to the index of an unused, uninitialised record, which the caller frees by
 * camp_session_free_place(). Returns false if there is no memory. */
bool camp_session_take_place(struct camp_states *session, uint32_t *ret);
void camp_session_free_place(struct camp_states *session, uint32_t place);

void camp_session_note_record(const struct camp_states *session, struct known_thread *known,
                              const struct camp_thread_states *thread);

/* Makes the next snapshot read a thread. Does nothing if each snapshot reads all threads. Returns
 * false if there is no memory. */
bool camp_session_read_again(struct camp_states *session, int32_t tid);

bool camp_session_add_tid(struct tid_list *list, int32_t tid);

/* Returns the time until which a thread is accounted. Idle threads are accounted until the start of
 * the last snapshot, without a visit. */
static inline uint64_t camp_session_accounted_ns(const struct camp_states *session,
                                                 const struct known_thread *known)
{
    return known->time_ns > session->idle_until_ns ? known->time_ns : session->idle_until_ns;
}

/* Returns the record of a thread. First charges the time from record->time_ns to the end of the
 * accounted time to the state of the record. */
struct camp_thread_states *camp_session_record(const struct camp_states *session,
                                               const struct known_thread *known);

/* Copies a visitor of any version of the library to *ret, and passes it the exits. No exit is
 * stored, so their number is not limited. */
int camp_session_tell_exits(struct camp_states *session, const struct camp_states_visitor *visitor,
                            size_t size, struct camp_states_visitor *ret, struct camp_error *error);

/* Makes the first snapshot, which gives each thread its account. */
int camp_session_account_all(struct camp_states *session, struct camp_error *error);
