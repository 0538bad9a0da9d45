/*
 * Active time: the time of an entity in states that are not idle, by class. Its sum over all
 * threads, divided by the length of the interval, is the number of threads that were active at one
 * time on average.
 *
 * A thread that does nothing but wait in a lock for a whole interval is parked. It may wait for its
 * next work as well as for a lock, because both are waits in futex(2). So its time is not active.
 */
#pragma once

#include "timeline.h"

/* The share of its time from which a wait in a lock makes a thread parked. */
#define ACTIVE_PARKED_SHARE 0.999

struct active {
    double seconds[CLASS_COUNT]; /* [CLASS_IDLE] is always 0 */
    double sum_s;
    double missing_s; /* time in no state; it is not part of sum_s */
    bool is_parked;
};

/* Computes the active time of a row of a frame, and of a row of a timeline. */
void active_of_frame(const struct frame *frame, size_t entity, struct active *ret);
void active_of_timeline(const struct timeline *timeline, size_t row, struct active *ret);

/* Adds `more` to *sum, which must be all zero before the first call. sum->is_parked does not
 * change. */
void active_add(struct active *sum, const struct active *more);
