/* The source "check": sampled beside measured CPU time, as `camp check` has them, for recordings.
 */
#ifndef CAMP_SOURCES_CHECK_H
#define CAMP_SOURCES_CHECK_H

#include "source.h"

/* Frames of "tasks", by the tier that tasks_source_open() finds. Where that reads no sampled time
 * its columns are not there: what is unknown is no 0. CPUs stand beside: as they were timed in the
 * same look, where the tier does that; else by the columns of /proc/stat, read next. Also before
 * the first frame, when they are none. */
int check_source_open(enum tasks_tier tier, const volatile sig_atomic_t *stop, struct source **ret,
                      enum tasks_tier *ret_tier, struct camp_error *error);

#endif
