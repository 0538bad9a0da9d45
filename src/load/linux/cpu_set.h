/*
 * Sets of CPUs of any size. cpu_set_t has 1,024 bits: if the kernel supports more CPUs,
 * sched_getaffinity(2) refuses it with EINVAL, and further CPUs have no bit in it.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* An all-zero struct is an empty set. */
struct cpu_set {
    cpu_set_t *bits;
    size_t size; /* in bytes */
};

/* Reads the CPUs that the calling thread may run on. Returns false if they are unknown. The set
 * must be released by cpu_set_release(). */
bool cpu_set_read(struct cpu_set *ret);

/* Binds the calling thread to the CPUs of the set. Returns 0 or an errno. */
int cpu_set_use(const struct cpu_set *set);

/* Binds the calling thread to one CPU. Returns 0 or an errno: EINVAL if the CPU is offline, absent
 * or not allowed. */
int cpu_set_use_one(int cpu);

/* Returns the next CPU of the set after the CPU `after`, or the first if `after` is -1. Returns -1
 * after the last. */
int cpu_set_next(const struct cpu_set *set, int after);

/* Returns the last CPU of the set, or -1 if it is empty. */
int cpu_set_last(const struct cpu_set *set);

void cpu_set_release(struct cpu_set *set);
