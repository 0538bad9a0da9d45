/* Arithmetic of what a session says of a thread. */
#ifndef CAMP_SOURCES_MACHINE_THREAD_STATES_H
#define CAMP_SOURCES_MACHINE_THREAD_STATES_H

#include <camp/states.h>

#include <stdbool.h>

/* Two readings of one thread: of one process, and watched since the same moment. Not by tid: a
 * thread that runs another program has its process's first tid from then on, and what that one's
 * start was. */
bool thread_states_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Leaves in *now what came since `then`, a reading before of the same thread, or of one that is
 * part of this total. */
void thread_states_subtract(struct camp_thread_states *now, const struct camp_thread_states *then);

#endif
