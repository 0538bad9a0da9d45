/* CPUs by microstates, which threads.c reads in the same snapshot as its threads. */
#pragma once

#include "ledger/frame.h"

#include <camp/states.h>

struct cpus_states;

/* CAMP_OK, CAMP_E_NOMEM, or the failure to read /proc/stat. */
int cpus_states_open(struct cpus_states **ret, struct camp_error *error);
void cpus_states_close(struct cpus_states *cpus);

/* Reads the difference since the last snapshot; the first one has no CPUs. */
int cpus_states_read(struct cpus_states *cpus, struct camp_states *session,
                     struct camp_error *error);

const struct frame *cpus_states_frame(const struct cpus_states *cpus);
