/*
 * A witness is an independent measurement of what else ran on this machine while a load was
 * watched.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A snapshot of all processes. witness_release() releases it. */
struct witness {
    struct witnessed *processes; /* [count], ascending by pid */
    size_t count;
    uint64_t moment_ns; /* duration of reading the clocks and CPUs */
};

/* What all processes did between two snapshots. */
struct testimony {
    double tasks_ns;     /* CPU time of all processes, measured, exited ones included */
    double uncertain_ns; /* its error, because cutime is rounded: nearly always an upper bound */
    double moments_ns; /* duration of both readings: CPU time in them may be missing or too much */
};

/* Takes a snapshot. `read_beside` reads, at the same moment, the numbers that are compared with it.
 * It may be called more than once; the last call counts. CAMP_E_SPACE: processes start and exit too
 * fast for a snapshot of one moment. */
int witness_read(struct witness *witness, void (*read_beside)(void *context), void *context,
                 struct camp_error *error);

void witness_compare(const struct witness *before, const struct witness *after,
                     struct testimony *ret);

void witness_release(struct witness *witness);

/* Returns the sum of the numbers that follow `name` at the start of a line of a file, after any
 * blanks; `unknown`: there is no such line. */
double verify_sum_of(const char *path, const char *name, double unknown);

/* Time stolen by the hypervisor from all CPUs since boot; 0 if unknown. */
uint64_t verify_stolen_ns(void);

/* Stolen time and interrupts of a CPU: wall time that no task's clock may contain. */
uint64_t verify_off_task_ns(int32_t cpu);

/* Returns an upper bound of the growth of verify_off_task_ns() since it was `before_ns`. Each of
 * its three parts has the resolution of /proc/stat, unless the kernel does not report it. */
double verify_off_task_since_ns(int32_t cpu, uint64_t before_ns);
