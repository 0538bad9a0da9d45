/*
 * Active time: the time of an entity in states that are not idle, by class. Its sum over all
 * threads, divided by the length of the interval, is the number of threads that were active at one
 * time on average.
 *
 * A thread that does almost nothing but wait in a lock for a whole interval is parked. It may wait
 * for its next work as well as for a lock, because both are waits in futex(2). So this
 * wait is not active time.
 */
#pragma once

#include "timeline.h"

/* The share of its time from which a wait in a lock makes a thread parked. A thread of a pool that
 * looks for work once a second uses some ms for it. */
#define ACTIVE_PARKED_SHARE 0.99

struct active {
    double seconds[CLASS_COUNT]; /* [CLASS_IDLE] is always 0 */
    double sum_s;
    double missing_s; /* time in no state; it is not part of sum_s */
    bool is_parked;
};

/* Returns the index of the state of waits in futex(2), or state_count if the schema has none. */
size_t active_lock_column(const struct schema *schema);

/* Computes the active time of a row of a frame, and of a row of a timeline. */
void active_of_frame(const struct frame *frame, size_t entity, struct active *ret);
void active_of_timeline(const struct timeline *timeline, size_t row, struct active *ret);

/* Adds `more` to *sum, which must be all zero before the first call. sum->is_parked does not
 * change. */
void active_add(struct active *sum, const struct active *more);

/*
 * The most unusual of many frames: the one whose active time, by class and with the time in no
 * state, rises most above the lowest of all frames. Waits and time in no state weigh more than CPU
 * time. So a quiet frame is never unusual, also if most frames are busy. Some numbers of each frame
 * are kept, not the frame.
 *
 * A rise counts relative to how much the class usually changes from one frame to the next, and a
 * small part of all active time.
 */

/* For each class, how many entities were active at one time. The value of CLASS_IDLE is that of the
 * time in no state. */
struct unusual_frame {
    float active[CLASS_COUNT];
};

/* A struct that is all zero has no frames. */
struct unusual {
    struct unusual_frame *frames; /* [count] */
    size_t count, capacity;
};

void unusual_release(struct unusual *unusual);

/* Adds the next frame. Returns CAMP_OK or CAMP_E_NOMEM. */
int unusual_add(struct unusual *unusual, const struct frame *frame);

/* Sets *ret to the index of the most unusual frame: of the first one, if several are as unusual; 0
 * if there are no frames. Returns CAMP_OK or CAMP_E_NOMEM. */
int unusual_find(const struct unusual *unusual, size_t *ret);
