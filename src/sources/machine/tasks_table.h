/*
 * The processes known to the source "tasks", from one look to the next: a sorted table, and those
 * that ended before anybody could look.
 */
#ifndef CAMP_SOURCES_MACHINE_TASKS_TABLE_H
#define CAMP_SOURCES_MACHINE_TASKS_TABLE_H

#include "ledger/accuracy.h"

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_flag {
    TASK_NEW = 1u << 0,   /* first seen in this interval */
    TASK_ENDED = 1u << 1, /* its final times are known: by its exit record */
    TASK_GONE = 1u << 2,  /* no longer listed */
    TASK_NAMED = 1u << 3, /* name and kernel flag are known */
    TASK_KERNEL = 1u << 4,
    TASK_REPORTED = 1u << 5 /* ended, and was in a frame as such: a zombie not yet reaped */
};

struct known_task {
    int32_t pid;
    uint32_t flags;                   /* enum task_flag */
    uint64_t token;                   /* struct camp_pid */
    uint64_t clock_ns;                /* its CPU clock at the last look; UINT64_MAX: never read */
    uint64_t measured_ns, sampled_ns; /* now */
    uint64_t measured_before_ns, sampled_before_ns; /* when the interval began */
    char name[CAMP_NAME_SIZE];
};

/* Processes of one name that began and ended within the interval. */
struct ended_group {
    char name[CAMP_NAME_SIZE];
    bool kernel;
    uint32_t count;
    struct accuracy sum; /* in ns */
};

struct tasks_table {
    struct known_task *tasks; /* [count], ascending by pid; of one pid the older first */
    size_t count;
    struct known_task *merged; /* [capacity] the other buffer of a merge */
    size_t capacity;           /* of both */
    struct ended_group *ended; /* [ended_count], ascending by name */
    size_t ended_count, ended_capacity;
    uint64_t unread_ns; /* what ended ones may have run after their record was up to date */
    uint64_t stolen_ns; /* by the hypervisor in this interval (the caller adds), and not yet taken
                         * off anybody (tasks_table_end() takes off) */
};

void tasks_table_release(struct tasks_table *table);

/* Takes over a list of pids, ascending: new ones get TASK_NEW, those not listed TASK_GONE.
 * `previous_look_ns` (CLOCK_BOOTTIME of the look before) tells a reused pid from a new token of the
 * same process. */
int tasks_table_merge(struct tasks_table *table, const struct camp_pid *pids, size_t count,
                      uint64_t previous_look_ns);

/* Whether the end of this pid would be booked in a row. */
bool tasks_table_knows(struct tasks_table *table, int32_t pid);

/* Books the final times of an ended process: in its row, or, when nobody had seen it, in the group
 * of its name. */
int tasks_table_end(struct tasks_table *table, const struct camp_task_exit *exit);

/* A new interval begins: what is now was before; rows that are done with are dropped. */
void tasks_table_roll(struct tasks_table *table);

#endif
