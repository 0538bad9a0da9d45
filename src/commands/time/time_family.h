/*
 * The threads of a command and of all its descendants, or of one process: what they did, added up
 * by executable in a frame.
 */
#pragma once

#include "ledger/frame.h"
#include "sources/machine/thread_interval.h"
#include "sources/source.h"

/* The columns of threads_schema, then: */
enum family_column {
    FAMILY_PROCESSES = THREADS_COLUMN_COUNT, /* first threads of their process */
    FAMILY_RUNNING,                          /* threads that had not exited */
    FAMILY_COLUMN_COUNT
};

/* family_init() fills it, family_release() frees its arrays. */
struct family {
    struct thread_interval interval;
    struct thread_list threads; /* what each thread did, by process and time */
    struct column columns[FAMILY_COLUMN_COUNT];
    struct schema schema;
    /* Row 0 is the total; a further row for each name of a process at its exit. The count of an
     * entity is that of its threads. */
    struct frame sums;
    size_t *order; /* [sums.entity_count - 1] rows behind the total, longest time first */
};

void family_init(struct family *ret);
void family_release(struct family *family);

/* Takes the first snapshot: what threads did before this is excluded. Threads that have exited
 * meanwhile are left to family_collect_exited(), so that the end of a process is not missed. */
int family_start(struct family *family, struct camp_states *session, struct camp_error *error);

/* Collects the threads that exited since the last call, of any process, or (pid > 0) of this one.
 */
int family_collect_exited(struct family *family, struct camp_states *session, int32_t pid,
                          struct camp_error *error);

/* Is the exit of this process's first thread among those collected? */
bool family_has_exit(const struct family *family, int32_t pid);

/* Collects the living and all exited threads. Called at the end: the family then has each thread
 * once. */
int family_collect_rest(struct family *family, struct camp_states *session,
                        struct camp_error *error);

/* Adds up the descendants of `root`, or the threads of one process. CAMP_OK or CAMP_E_NOMEM. */
int family_add_up_descendants(struct family *family, int32_t root);
int family_add_up_process(struct family *family, int32_t pid);
