/* The microstates of CPUs. threads.c reads them in the same snapshot as the microstates of
 * threads. */
#pragma once

#include "ledger/frame.h"

#include <camp/states.h>

struct cpus_states;

/* Returns CAMP_OK, CAMP_E_NOMEM, or the error of reading /proc/stat. */
int cpus_states_open(struct cpus_states **ret, struct camp_error *error);
void cpus_states_close(struct cpus_states *cpus);

/* Takes a snapshot, and fills the frame with the difference to the previous snapshot. The frame of
 * the first snapshot has no rows. */
int cpus_states_read(struct cpus_states *cpus, struct camp_states *session,
                     struct camp_error *error);

const struct frame *cpus_states_frame(const struct cpus_states *cpus);
