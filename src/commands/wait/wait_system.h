/*
 * What the system as a whole did in an interval of `camp wait`: the columns of mpstat and vmstat of
 * Solaris that no thread and no CPU state has.
 */
#pragma once

#include "sources/machine/interrupts.h"
#include "sources/source.h"
#include "views/record.h"

#include <camp/system.h>

struct system_reading {
    struct camp_system system;
    struct camp_memory memory;
    uint64_t interrupts_ns; /* CLOCK_MONOTONIC when the interrupts were read */
    struct interrupts interrupts;
    struct camp_disk *disks; /* [disk_count] the physical ones */
    size_t disk_count, disk_capacity;
};

/* An all-zero struct is empty. wait_system_release() frees the members. */
struct wait_system {
    struct system_reading before, now;
};

/* Makes `now` the start of the next interval, and reads it again. What cannot be read is
 * unknown. */
void wait_system_read(struct wait_system *system);
void wait_system_release(struct wait_system *system);

enum wait_system_field {
    SYSTEM_RUN_QUEUE,
    SYSTEM_BLOCKED,
    SYSTEM_SWAP_FREE,
    SYSTEM_AVAILABLE,
    SYSTEM_MINOR_FAULTS,
    SYSTEM_MAJOR_FAULTS,
    SYSTEM_PAGED_IN,
    SYSTEM_PAGED_OUT,
    SYSTEM_SWAPPED_IN,
    SYSTEM_SWAPPED_OUT,
    SYSTEM_SCANNED,
    SYSTEM_RECLAIMED,
    SYSTEM_INTERRUPTS,
    SYSTEM_CROSS_CALLS,
    SYSTEM_CONTEXT_SWITCHES,
    SYSTEM_INVOLUNTARY_SWITCHES,
    SYSTEM_SYSTEM_CALLS,
    SYSTEM_FIELD_COUNT
};
extern const struct field wait_system_fields[SYSTEM_FIELD_COUNT];

/* Fills the row of the system. `threads` are the threads of the interval with their states, or NULL
 * without microstates. `cpus` is the number of CPUs. */
void wait_system_fill(struct cell ret[SYSTEM_FIELD_COUNT], const struct wait_system *system,
                      const struct frame *threads, bool counts_calls, size_t cpus);

/* Sets the interrupts and the cross calls of a CPU, per second. */
void wait_system_cpu(struct cell ret[2], const struct wait_system *system, int64_t cpu);

/* Sets the name of a disk, and how many transfers it completed per second. */
void wait_system_disk(struct cell ret[2], const struct wait_system *system, size_t disk);
