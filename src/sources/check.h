/* The source "check": sampled and measured CPU time of processes, as `camp check` shows them. */
#pragma once

#include "source.h"

/* Opens the processes with their CPU time. *ret_tier is the tier that tasks_source_open() chose.
 * Sampled time is unknown on the tier schedstat, so the frames of that tier have no column for it.
 *
 * source_beside() returns the CPUs. On the tier bpf they are from the same snapshot as the
 * processes. On other tiers they are read from /proc/stat right after the processes, and are empty
 * before the first frame. */
int check_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error);
