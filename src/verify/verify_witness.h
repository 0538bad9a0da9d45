/*
 * Witnesses: what else ran on this machine while a load was watched.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A snapshot of all processes. Owned: witness_release(). */
struct witness {
    struct witnessed *processes; /* [count], ascending by pid */
    size_t count;
    uint64_t moment_ns; /* duration of reading the clocks and CPUs */
};

/* The machine between two snapshots. */
struct testimony {
    double tasks_ns;     /* CPU time of all processes, measured, exited ones included */
    double uncertain_ns; /* error of it, by the rounding of cutime: a bound, except for a rare
                          * chance */
    double moments_ns;   /* duration of both readings: CPU time in them is on one side only */
};

/* `read_beside` reads the numbers to compare with at the same moment. It may be called more than
 * once; the last call counts. CAMP_E_SPACE: processes come and go too fast for a snapshot of
 * one moment. */
int witness_read(struct witness *witness, void (*read_beside)(void *context), void *context,
                 struct camp_error *error);

void witness_compare(const struct witness *before, const struct witness *after,
                     struct testimony *ret);

void witness_release(struct witness *witness);

/* The sum of the numbers that follow `name` at the start of a line of a file; `unknown`: there is
 * no such line. Blanks before the name do not count. */
double verify_sum_of(const char *path, const char *name, double unknown);

/* Time stolen by the hypervisor from all CPUs since boot; 0 if unknown. */
uint64_t verify_stolen_ns(void);

/* Stolen time and interrupts of a CPU: wall time that no task's clock may contain. */
uint64_t verify_off_task_ns(int32_t cpu);

/* An upper bound of the growth of verify_off_task_ns() since `before_ns`. Each of its three numbers
 * has the resolution of /proc/stat, unless the kernel does not report it. */
double verify_off_task_since_ns(int32_t cpu, uint64_t before_ns);
