/* One interval of `camp wait` as a record of the schema "camp.wait/1". */
#pragma once

#include "views/record.h"
#include "wait_tasks.h"

enum wait_tier {
    WAIT_AUTOMATIC, /* bpf where permitted and available */
    WAIT_BPF,
    WAIT_KERNEL /* only the kernel's own iowait */
};

struct wait_selection {
    const int32_t *pids; /* [pid_count]; none: all */
    size_t pid_count;
    size_t top;      /* at most; 0: all */
    size_t top_cpus; /* at most, those with the most wait; 0: all */
};

/* The data of an interval. */
struct wait_interval {
    enum wait_tier tier;
    const struct frame *cpus;       /* of enum cpus_states_column; tier kernel: of cpus_column */
    const struct wait_tasks *tasks; /* tier kernel: NULL */
    struct losses losses;
    uint64_t elapsed_ns;
    const char *time;
};

/* One CPU, or all (CAMP_CPU_TOTAL): of elapsed_ns, in ns. */
struct wait_cpu {
    int32_t cpu;
    uint64_t elapsed_ns;
    uint64_t user, system, irq, softirq;
    uint64_t idle; /* waits included */
    uint64_t any, own, kernel, steal;
};

enum { WAIT_SUMMARY, WAIT_MACHINE, WAIT_CPUS, WAIT_TASKS, WAIT_LOSSES, WAIT_TABLE_COUNT };
extern const char *const wait_table_names[]; /* NULL-terminated: for --table */

#define WAIT_CPU_CELLS 11
#define WAIT_TASK_CELLS 7
#define WAIT_DISK_SIZE 32
#define WAIT_NOTES 7

/* Owns the cells and texts of the record: wait_record_release(). All zero is empty. */
struct wait_record {
    struct record record;
    struct table tables[WAIT_TABLE_COUNT];
    struct wait_cpu *cpus; /* [cpu_count] without the total */
    size_t cpu_count, cpu_capacity;
    struct cell *cpu_cells;        /* [cpu_capacity x WAIT_CPU_CELLS] */
    struct cell *task_cells;       /* [task_capacity x WAIT_TASK_CELLS] */
    char (*disks)[WAIT_DISK_SIZE]; /* [task_capacity] */
    size_t task_capacity;
    struct cell summary[4], machine[WAIT_CPU_CELLS + 2], losses[3];
    char time[40], headline[160], lines[WAIT_NOTES][120];
    const char *notes[WAIT_NOTES + 1]; /* NULL-terminated */
};

/* CAMP_E_NOMEM. */
int wait_record_fill(struct wait_record *ret, const struct wait_interval *interval,
                     const struct wait_selection *selection);
void wait_record_release(struct wait_record *record);

const char *wait_tier_name(enum wait_tier tier);
