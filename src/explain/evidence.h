/*
 * What the rules of camp explain look at: all frames of a time, added up.
 *
 * An entity has one row, whose values and elapsed times are the sums over all intervals. Threads
 * that started and ended within one interval are added up by name, in rows of their own.
 */
#pragma once

#include "ledger/registry.h"
#include "measure.h"

#include <stdbool.h>

struct causes; /* sources/causes/causes.h */

enum evidence_kind {
    EVIDENCE_OTHER,    /* rows of a table, a fleet, CPUs, groups of threads */
    EVIDENCE_THREADS,  /* a row is a thread, or several exited threads with one name */
    EVIDENCE_CHECK,    /* a row is a process with its measured and sampled CPU time */
    EVIDENCE_SESSIONS, /* a row is a session of a database */
    EVIDENCE_KIND_COUNT
};

/* The most rows of a sum. Entities first seen later are added up in one row. */
#define EVIDENCE_ROWS_MOST 100000
#define EVIDENCE_OTHERS "(others)"

struct evidence_sum {
    struct frame frame; /* a row for each number of the registry */
    struct registry registry;
    /* [frame.entity_count] The time of each row that is in no state, or in two: the sum of its size
     * in each interval, so that too little in one and too much in another do not cancel. */
    uint64_t *unaccounted_ns;
    size_t unaccounted_capacity;
};

/* A row of `rows`, and the process that it belongs to. */
struct evidence_member {
    int64_t pid;
    size_t row;
};

/* The rows of one process: a part of evidence.members. */
struct evidence_process {
    const struct evidence_member *members; /* [count] */
    size_t count;                          /* 0: there is no such process */
};

/* A session at the start of a chain of sessions that wait for each other, and how long those below
 * it waited. `id` is 0 of a prepared transaction (entity_beside() with several servers). */
struct evidence_root {
    int64_t id;
    uint64_t blocking_ns;
};

/* A CPU, and the share of its time for which it was chosen. `share` is 0 if there is none. */
struct evidence_cpu {
    int64_t id;
    double share;
};

/* The CPUs together. Times are in seconds a second. */
struct evidence_machine {
    size_t cpus;   /* 0 if their number is unknown */
    bool has_load; /* the busy time and the members below are known */
    double busy;   /* share of the CPUs' time in which they were busy, from 0 to 1 */
    bool has_rows; /* there is a row for each CPU, so the members below are known */
    struct evidence_cpu fullest, emptiest; /* the CPUs that were busy and idle for longest */
    double outside;                        /* CPU time of threads outside of this PID namespace */
};

/* What Linux counts for the system as a whole, and no frame has. */
struct evidence_pressure {
    bool is_known;
    uint64_t memory_some_ns; /* a thread or more was delayed by a lack of memory */
};

/* An all-zero struct is empty. evidence_release() frees its members. */
struct evidence {
    enum evidence_kind kind;
    bool is_live;
    bool is_part;                    /* the rows are some processes only, not all */
    struct evidence_sum rows;        /* without short-lived threads */
    struct evidence_sum short_lived; /* threads that started and ended in one interval, by name */
    struct evidence_sum cpus; /* CPUs beside the rows; the schema is NULL if there are none */
    struct frame processes;   /* `rows` added up by process; rows that are no threads as they are */
    struct evidence_member *members; /* [rows.frame.entity_count], sorted by pid, then by row */
    struct evidence_root *roots;     /* [root_count] of sessions that say their root_blocker */
    size_t root_count, root_capacity;
    struct losses losses;
    uint64_t elapsed_ns; /* the lengths of all intervals */
    uint64_t intervals;
    struct evidence_machine machine;
    struct evidence_pressure pressure;
    /* Why the threads waited in all intervals, or NULL: `why_no_causes` then says why they are
     * unknown. */
    const struct causes *causes;
    const char *why_no_causes;
    int32_t own_pid;           /* the process that measures; 0 if it is not this one */
    char disk[CAMP_NAME_SIZE]; /* the disk that was waited for longest; "" if it is unknown */
    double disk_share;         /* its share of all waits for disks */
};

/* Sets `kind` from the columns of the rows. `are_threads` says that each row is one thread. */
void evidence_start(struct evidence *evidence, const struct schema *schema, bool are_threads);

/* Adds an interval. `cpus` is the frame of the CPUs in the same interval, or NULL. Returns CAMP_OK
 * or CAMP_E_NOMEM. */
int evidence_add(struct evidence *evidence, const struct frame *rows, const struct frame *cpus);

/* Computes `processes`, `members` and `machine` after the last interval. `cpus_if_unknown` is the
 * number of CPUs if there is no frame of them; 0 if it is unknown, too. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int evidence_finish(struct evidence *evidence, size_t cpus_if_unknown);

void evidence_release(struct evidence *evidence);

/* Returns the rows of a process. Rows without a pid are those of pid 0. */
struct evidence_process evidence_process_find(const struct evidence *evidence, int64_t pid);

/* Returns the rows of the process after `process`; those of the first one if it is all zero. */
struct evidence_process evidence_process_next(const struct evidence *evidence,
                                              const struct evidence_process *process);

/* Returns the length of all intervals in seconds. */
double evidence_seconds(const struct evidence *evidence);

/* The sum of some columns (measure_columns()) of the processes. */
struct measure evidence_of_processes(const struct evidence *evidence, const char *columns);
