/*
 * The quota of CPU time of a cgroup: the least of its own and those of the cgroups around it.
 * Version 2 has it in cpu.max, version 1 in cpu.cfs_quota_us and cpu.cfs_period_us
 * (Documentation/scheduler/sched-bwc.rst of the kernel).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cpu_hierarchy {
    char *mount; /* where the cgroups with the CPU controller are mounted; NULL: nowhere */
    bool is_v1;
};

/* Finds the hierarchy according to a file such as /proc/self/mounts. */
void cpu_hierarchy_find(FILE *mounts, struct cpu_hierarchy *ret);
void cpu_hierarchy_release(struct cpu_hierarchy *hierarchy);

/* Returns the number of CPUs that the cgroup path[length] may use on average, such as 0.5; 0 if
 * neither it nor a cgroup around it has a quota; -1 if one of them was removed or cannot be read.
 */
double cpu_quota(const struct cpu_hierarchy *hierarchy, const char *path, size_t length);
