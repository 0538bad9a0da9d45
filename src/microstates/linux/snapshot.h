/* What the two ways to take a snapshot share: iterator.c and changes.c read threads, and snapshot.c
 * passes them on. */
#pragma once

#include "session.h"

/* A record that is kept until all records are read, and then sorted. */
struct record {
    int32_t tid;
    uint32_t length;
    size_t offset;
};

struct records {
    struct record *list; /* [count], owned */
    char *bytes;         /* [size], owned */
    size_t count, capacity, size, byte_capacity;
};

struct snapshot {
    struct camp_states *session;
    size_t at; /* entries of session->known before this index have been handled */
    /* number of known threads found so far; their entries are at the front of session->known */
    size_t kept;
    struct known_thread *fresh; /* [fresh_count], unknown threads in ascending order of tids */
    size_t fresh_count, fresh_capacity;
    int32_t last_tid;
    uint64_t began_ns;
    bool broken, out_of_memory, damaged;
    struct records kept_back;                  /* holds all records if session->is_unordered */
    const struct camp_states_visitor *visitor; /* NULL if `output` receives the threads */
    struct camp_output output;
};

/* The threads of a snapshot are passed to these functions in ascending order of tids. */

void camp_snapshot_add(struct snapshot *snapshot, struct camp_thread_states *thread);

/* A thread was idle until the start of the snapshot; `unchanged` is what another thread may have
 * changed. */
void camp_snapshot_add_unchanged(struct snapshot *snapshot,
                                 const struct unchanged_thread *unchanged);
void camp_snapshot_add_waiting(struct snapshot *snapshot, int32_t tid);

/* All known threads with tids below `tid` that were not passed were idle until the start of the
 * snapshot. */
void camp_snapshot_add_idle(struct snapshot *snapshot, int64_t tid);

/* Frees the records of known threads with tids below `tid` that were not passed: they no longer
 * exist. */
void camp_snapshot_pass_by(struct snapshot *snapshot, int64_t tid);

/* Returns whether the visitor needs no name, parent and group of idle threads: it does not ask for
 * each of them, and the list of changes has those whose name, parent or group is another now. */
static inline bool camp_snapshot_is_brief(const struct snapshot *snapshot)
{
    return snapshot->visitor != NULL && snapshot->visitor->waited == NULL &&
           snapshot->session->lists_changes;
}

/* Reads all threads by an iterator of the kernel. Errors: CAMP_E_NOMEM, CAMP_E_IO, CAMP_E_FORMAT.
 */
int camp_snapshot_iterate(struct snapshot *snapshot, struct camp_error *error);

/* Reads the threads in the list of changes. Sets *ret_done to false, and visits no thread, if the
 * list lacks changes: then the iterator must read all threads. Errors: those of
 * camp_snapshot_iterate(). */
int camp_snapshot_read_changes(struct snapshot *snapshot, bool *ret_done, struct camp_error *error);

/* Called before the iterator reads all threads. Forgets the threads to be read again, but keeps the
 * newest entries of the list, which the next snapshot reads once more. */
void camp_changes_restart(struct camp_states *session);
