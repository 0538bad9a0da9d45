/* CPUs by microstates: what threads.c reads of them beside its threads, in the same look. */
#ifndef CAMP_SOURCES_MACHINE_CPUS_STATES_H
#define CAMP_SOURCES_MACHINE_CPUS_STATES_H

#include "ledger/frame.h"

#include <camp/states.h>

struct cpus_states;

/* CAMP_OK, CAMP_E_NOMEM, or why /proc/stat cannot be read. */
int cpus_states_open(struct cpus_states **ret, struct camp_error *error);
void cpus_states_close(struct cpus_states *cpus);

/* What happened since the look before; the first look has no CPUs. */
int cpus_states_look(struct cpus_states *cpus, struct camp_states *session,
                     struct camp_error *error);

const struct frame *cpus_states_frame(const struct cpus_states *cpus);

#endif
