/* Arithmetic on a session's readings of a thread. */
#ifndef CAMP_SOURCES_MACHINE_THREAD_STATES_H
#define CAMP_SOURCES_MACHINE_THREAD_STATES_H

#include <camp/states.h>

#include <stdbool.h>

/* Whether two readings are of one thread: of one process, and attached at the same moment. The tid
 * does not identify a thread: exec() by a thread gives it the first tid and the start time of its
 * process. */
bool thread_states_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Subtracts `then` from *now: an earlier reading of the same thread, or of a part of this total. */
void thread_states_subtract(struct camp_thread_states *now, const struct camp_thread_states *then);

#endif
