/*
 * Witnesses: what else ran on this machine while a load was watched.
 */
#ifndef CAMP_VERIFY_VERIFY_WITNESS_H
#define CAMP_VERIFY_VERIFY_WITNESS_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One look at all processes. Owned: witness_release(). */
struct witness {
    struct witnessed *processes; /* [count], ascending by pid */
    size_t count;
    uint64_t moment_ns; /* how long reading the clocks and CPUs took */
};

/* The machine between two looks. */
struct testimony {
    double tasks_ns;     /* CPU time of all processes, measured, those that ended included */
    double uncertain_ns; /* of it: the rounding of cutime, at most or but for a rare chance */
    double moments_ns;   /* how long both readings took: CPU time in them is on one side only */
};

#define WITNESS_NONE                                                                               \
    {                                                                                              \
        .count = 0                                                                                 \
    }

/* `meanwhile` reads, at the same moment, what is to be held against it; it may be called more than
 * once, and the last time counts. CAMP_E_SPACE: so many processes come and go that no look at all
 * of them is of one moment. */
int witness_look(struct witness *witness, void (*meanwhile)(void *context), void *context,
                 struct camp_error *error);

void witness_compare(const struct witness *before, const struct witness *after,
                     struct testimony *ret);

void witness_release(struct witness *witness);

/* What the hypervisor took from all CPUs since boot; 0 where it does not say. */
uint64_t verify_stolen_ns(void);

/* Stolen time and interrupts of a CPU: wall time that may be in no task's clock. */
uint64_t verify_taken_ns(int32_t cpu);

/* An upper bound of the growth of verify_taken_ns() since `before_ns`. Each of the three numbers in
 * it has the resolution of /proc/stat, unless the kernel does not report it. */
double verify_taken_since_ns(int32_t cpu, uint64_t before_ns);

#endif
