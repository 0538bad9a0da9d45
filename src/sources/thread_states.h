/* Arithmetic of what a session says of a thread. */
#ifndef CAMP_SOURCES_THREAD_STATES_H
#define CAMP_SOURCES_THREAD_STATES_H

#include <camp/states.h>

/* Leaves in *now what came since `then`, a reading before of the same thread, or of one that is
 * part of this total. */
void thread_states_subtract(struct camp_thread_states *now, const struct camp_thread_states *then);

#endif
