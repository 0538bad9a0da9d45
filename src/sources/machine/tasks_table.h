/* The processes of tasks.c, in a table that is kept from one snapshot to the next. A process that
 * ended before any snapshot listed it has no row, but counts in an ended_group. */
#pragma once

#include "ledger/accuracy.h"

#include <camp/linux.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_flag {
    TASK_NEW = 1u << 0,   /* the process was first listed in this interval */
    TASK_ENDED = 1u << 1, /* the exit record of the process has arrived, with its final times */
    TASK_GONE = 1u << 2,  /* the newest snapshot does not list the process */
    TASK_NAMED = 1u << 3, /* the name is known, and whether this is a kernel thread */
    TASK_KERNEL = 1u << 4,
    /* the process is a zombie: its end was already shown, or it counts in an ended_group */
    TASK_REPORTED = 1u << 5
};

struct known_task {
    int32_t pid;
    uint32_t flags;
    uint64_t token;
    /* the CPU clock of the process at the newest snapshot; UINT64_MAX if it was never read */
    uint64_t clock_ns;
    uint64_t measured_ns, sampled_ns;               /* CPU time at the newest snapshot */
    uint64_t measured_before_ns, sampled_before_ns; /* CPU time at the start of the interval */
    char name[CAMP_NAME_SIZE];
};

/* All processes with the same name that started and ended within the interval. */
struct ended_group {
    char name[CAMP_NAME_SIZE];
    bool kernel;
    uint32_t count;
    struct accuracy sum;
};

struct tasks_table {
    /* [count] sorted by pid; if processes have the same pid, the oldest comes first */
    struct known_task *tasks;
    size_t count;
    /* [capacity] memory for the next tasks_table_merge(), which swaps it with `tasks` */
    struct known_task *merged;
    size_t capacity;           /* of `tasks` and `merged` */
    struct ended_group *ended; /* [ended_count], ascending by name */
    size_t ended_count, ended_capacity;
    /* upper bound of the CPU time that ended processes used, but that no row has */
    uint64_t unread_ns;
    /* Time that the hypervisor stole in this interval. The caller adds it, and tasks_table_end()
     * takes away the part that it has subtracted from an ended process. */
    uint64_t stolen_ns;
};

void tasks_table_release(struct tasks_table *table);

/* Merges a list of pids, sorted by pid, into the table. New processes get TASK_NEW. Processes that
 * are not in the list get TASK_GONE. `previous_snapshot_ns` is on CLOCK_BOOTTIME: if a process
 * started later, it is not the process that had its pid in the table. */
int tasks_table_merge(struct tasks_table *table, const struct camp_pid *pids, size_t count,
                      uint64_t previous_snapshot_ns);

/* Returns whether the table has a process with this pid whose exit record has not arrived. */
bool tasks_table_has(struct tasks_table *table, int32_t pid);

/* Accounts the final times of an ended process in its row. If no snapshot listed the process, adds
 * them to the ended_group of its name. */
int tasks_table_end(struct tasks_table *table, const struct camp_task_exit *exit);

/* Estimates from an exit record the whole CPU time of its process. Adds to table->unread_ns the CPU
 * time that the estimate may lack. */
uint64_t tasks_table_estimate(struct tasks_table *table, const struct camp_task_exit *exit);

/* Adds times to the ended_group of a process that an earlier interval accounted as ended. The
 * process is not counted again. */
int tasks_table_end_later(struct tasks_table *table, const struct camp_task_exit *exit,
                          uint64_t measured_ns, uint64_t sampled_ns);

/* Starts an interval: measured_before_ns and sampled_before_ns become the current times. Drops
 * processes with TASK_GONE. */
void tasks_table_start_interval(struct tasks_table *table);
