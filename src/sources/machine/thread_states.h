/* Arithmetic on a session's readings of a thread. */
#pragma once

#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>

/* Whether two readings are of one thread: of one process, and attached at the same moment. The tid
 * does not identify a thread: exec() by a thread gives it the first tid and the start time of its
 * process. */
bool thread_states_same(const struct camp_thread_states *a, const struct camp_thread_states *b);

/* Subtracts `then` from *now: an earlier reading of the same thread, or of a part of this total. */
void thread_states_subtract(struct camp_thread_states *now, const struct camp_thread_states *then);

/* Threads that were read before they exited may be part of a total: subtracts their last readings
 * from it, at most total->count. `pending`: [count] readings, `stride` bytes apart, of threads
 * whose last numbers did not come; those that were subtracted get CAMP_THREAD_ENDED. A total has
 * the parents that its members had when they exited: a thread whose parent exited before it has
 * another one in its last reading, so that those of the total's parent go first, and then any of
 * its name. */
void thread_states_subtract_members(struct camp_thread_states *total, void *pending, size_t count,
                                    size_t stride);
