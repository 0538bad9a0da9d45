/* The source "check": sampled and measured CPU time, as `camp check` shows them, for recordings. */
#pragma once

#include "source.h"

/* Opens the processes with their CPU time. *ret_tier is the tier that tasks_source_open() chose. On
 * the tier schedstat the frames have no column of sampled time, because that time is unknown.
 * source_beside() returns the CPUs. On the tier bpf the CPUs are from the same snapshot as the
 * processes; on the other tiers they are read from /proc/stat right after the processes. Before the
 * first frame there are no CPUs. */
int check_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error);
