/* The source "check": sampled and measured CPU time, as `camp check` shows them, for recordings. */
#pragma once

#include "source.h"

/* Opens a source of frames of "tasks", by the tier that tasks_source_open() chooses. A tier without
 * sampled time has no such columns: unknown is not 0. The CPUs beside these frames are from the
 * same snapshot if the tier measures them; otherwise they are the columns of /proc/stat, read next.
 * Before the first frame the CPUs are empty. */
int check_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error);
