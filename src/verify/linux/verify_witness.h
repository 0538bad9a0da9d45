/*
 * Measures the CPU time of all processes, without the library. So camp verify knows what else ran
 * on this machine while a load was running.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A snapshot of all processes. The caller must call witness_release(). */
struct witness {
    struct witnessed *processes; /* [count] ascending by pid */
    size_t count;
    uint64_t moment_ns; /* duration of reading the clocks and of read_beside() */
};

/* The difference between two snapshots. */
struct testimony {
    /* CPU time of all processes, including exited ones */
    double tasks_ns;
    /* Allowed error of tasks_ns, because cutime and cstime are rounded (DEVIATIONS). */
    double uncertain_ns;
    /* Sum of moment_ns of both snapshots. Each CPU may add an error of this size to tasks_ns. */
    double moments_ns;
};

/* Takes a snapshot. `read_beside` must read the numbers that will be compared with the snapshot,
 * and is called right after the clocks were read. If the snapshot must be repeated, `read_beside`
 * is called again, and only the numbers of its last call are valid. Returns CAMP_E_SPACE if
 * processes start and exit too fast. */
int witness_read(struct witness *witness, void (*read_beside)(void *context), void *context,
                 struct camp_error *error);

void witness_compare(const struct witness *before, const struct witness *after,
                     struct testimony *ret);

void witness_release(struct witness *witness);

/* Adds up the numbers after `name` in all lines of a file that start with `name`. Blanks before
 * `name` are ignored. Returns `unknown` if there is no such line. */
double verify_sum_of(const char *path, const char *name, double unknown);

/* Returns the stolen time and the interrupt time of a CPU. CPU clocks of tasks do not include these
 * times. */
uint64_t verify_off_task_ns(int32_t cpu);

/* Returns an upper bound of the growth of verify_off_task_ns() since it was `before_ns`. The bound
 * includes the resolution of /proc/stat, once for each of stolen, irq and softirq time. */
double verify_off_task_since_ns(int32_t cpu, uint64_t before_ns);

/* Returns why this kernel does not measure the busy time of CPUs, or NULL. */
const char *verify_busy_doubt(void);
