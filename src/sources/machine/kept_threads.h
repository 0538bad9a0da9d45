/* The last readings of threads that a snapshot lacks and whose final readings have not arrived. The
 * rules about them are in thread_registry.h. */
#pragma once

#include "ledger/index.h"
#include "thread_values.h"

struct kept_threads {
    struct kept_thread *threads; /* [count] the oldest first, or as kept_threads_sort() sorts */
    size_t count, capacity;
    struct index index;
};

/* Keeps a reading. Returns CAMP_OK or CAMP_E_NOMEM. */
int kept_threads_add(struct kept_threads *kept, const struct camp_thread_states *reading);

/* Takes the kept reading of a late thread, which is valid until the next call of another function.
 * Returns NULL if there is none. Must not be called after kept_threads_sort() before
 * kept_threads_age(). */
const struct camp_thread_states *kept_threads_take(struct kept_threads *kept,
                                                   const struct camp_thread_states *late);

/* Sorts the readings by their length, the longest first, for kept_threads_rest(). */
void kept_threads_sort(struct kept_threads *kept);

/* Subtracts the readings that may belong to a total, marks them as used, and returns the rest. */
struct camp_thread_states kept_threads_rest(struct kept_threads *kept,
                                            const struct camp_thread_states *total);

/* Drops readings that are no longer needed, or too old. Called once in a snapshot. */
void kept_threads_age(struct kept_threads *kept);

void kept_threads_release(struct kept_threads *kept);
