/*
 * The processes of the source "tasks", kept from one snapshot to the next: a sorted table, and the
 * processes that ended before any snapshot listed them.
 */
#pragma once

#include "ledger/accuracy.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_flag {
    TASK_NEW = 1u << 0,   /* first seen in this interval */
    TASK_ENDED = 1u << 1, /* its exit record has its final times */
    TASK_GONE = 1u << 2,  /* no longer listed */
    TASK_NAMED = 1u << 3, /* name and kernel flag are known */
    TASK_KERNEL = 1u << 4,
    TASK_REPORTED = 1u << 5 /* its end was already reported: a zombie not yet reaped */
};

struct known_task {
    int32_t pid;
    uint32_t flags;    /* enum task_flag */
    uint64_t token;    /* as in struct camp_pid */
    uint64_t clock_ns; /* its CPU clock when it was last read; UINT64_MAX: never read */
    uint64_t measured_ns, sampled_ns;               /* in this snapshot */
    uint64_t measured_before_ns, sampled_before_ns; /* at the start of the interval */
    char name[CAMP_NAME_SIZE];
};

/* Processes of one name that started and ended within the interval. */
struct ended_group {
    char name[CAMP_NAME_SIZE];
    bool kernel;
    uint32_t count;
    struct accuracy sum; /* in ns */
};

struct tasks_table {
    struct known_task *tasks; /* [count], ascending by pid; with equal pids the older first */
    size_t count;
    struct known_task *merged; /* [capacity] the other buffer of a merge */
    size_t capacity;           /* of both */
    struct ended_group *ended; /* [ended_count], ascending by name */
    size_t ended_count, ended_capacity;
    uint64_t unread_ns; /* upper bound of the time that ended processes ran after the time of their
                         * records */
    uint64_t stolen_ns; /* time taken by the hypervisor in this interval: the caller adds it,
                         * tasks_table_end() subtracts what it has used */
};

void tasks_table_release(struct tasks_table *table);

/* Merges a list of pids, ascending, into the table: processes that are new get TASK_NEW, those
 * missing in the list TASK_GONE. `previous_snapshot_ns` (CLOCK_BOOTTIME) distinguishes a reused pid
 * from a new token of the same process. */
int tasks_table_merge(struct tasks_table *table, const struct camp_pid *pids, size_t count,
                      uint64_t previous_snapshot_ns);

/* Whether the table has a row to which tasks_table_end() would account the end of this pid. */
bool tasks_table_has(struct tasks_table *table, int32_t pid);

/* Accounts the final times of an ended process: in its row, or, if no snapshot listed it, in the
 * group of its name. */
int tasks_table_end(struct tasks_table *table, const struct camp_task_exit *exit);

/* Starts an interval: the current times become those at its start. Drops the rows of processes that
 * have ended or are gone. */
void tasks_table_start_interval(struct tasks_table *table);
