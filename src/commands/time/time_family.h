/*
 * Adds up what the threads of a command and all its descendants did, or the threads of one process.
 * A frame has the sums for each executable.
 */
#pragma once

#include "ledger/frame.h"
#include "sources/machine/thread_registry.h"
#include "sources/source.h"

/* These columns follow the columns of threads_schema. threads_column() also returns the index of
 * these columns in family->schema. */
enum family_column {
    /* The number of processes, counted by their first threads. */
    FAMILY_PROCESSES = THREADS_COLUMN_COUNT,
    FAMILY_RUNNING, /* the number of threads that had not exited */
    FAMILY_COLUMN_COUNT
};

/* family_init() fills this struct, which must not move, and family_release() frees its arrays. */
struct family {
    struct thread_registry registry;
    struct thread_list threads; /* what each thread did, ordered by process and time */
    int32_t only_pid;           /* if not 0, only threads of this process are collected */
    uint64_t exiting;           /* threads of the machine whose last times came too late */
    struct column columns[FAMILY_COLUMN_COUNT];
    struct schema schema;
    uint64_t unmeasured; /* the columns that threads_unmeasured() returned are absent */
    /* Row 0 is the total. Each other row has the sums of all processes that had the same name at
     * their exit. The `count` of an entity is its number of threads. */
    struct frame sums;
    /* [sums.entity_count - 1] The rows after the total, ordered by descending time. */
    size_t *order;
};

/* `unmeasured` comes from threads_unmeasured(). */
void family_init(struct family *ret, uint64_t unmeasured);
void family_release(struct family *family);

/* Takes the first snapshot. What living threads did before this snapshot is not counted. If pid >
 * 0, only threads of this process are collected. */
int family_start(struct family *family, struct camp_states *session, int32_t pid,
                 struct camp_error *error);

/* Collects the threads that exited since the last call. */
int family_collect_exited(struct family *family, struct camp_states *session,
                          struct camp_error *error);

/* Returns whether the exit of the process's first thread was collected. */
bool family_has_exit(const struct family *family, int32_t pid);

/* Awaits the threads that exit, and collects them, the living threads, and the exited threads that
 * were not collected before. Called once, at the end. Then the family has each thread exactly
 * once. */
int family_collect_rest(struct family *family, struct camp_states *session,
                        struct camp_error *error);

/* Adds up the threads of all descendants of `root`, or of one process. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int family_add_up_descendants(struct family *family, int32_t root);
int family_add_up_process(struct family *family, int32_t pid);
