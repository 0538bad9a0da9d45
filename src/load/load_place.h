/* Where and how a load runs: the settings of the calling thread, and their restoration. */
#ifndef CAMP_LOAD_LOAD_PLACE_H
#define CAMP_LOAD_LOAD_PLACE_H

#include <camp/camp.h>

#include <sched.h>
#include <stdbool.h>

struct load_place {
    cpu_set_t cpus;
    int policy;
    struct sched_param parameter;
    int slack;
    bool known;
};

/* Timer slack 1 ns, and this CPU alone (-1: any). The old settings go to *saved, also on failure.
 * New threads inherit the settings. */
int load_place_set(struct load_place *saved, int cpu, struct camp_error *error);

/* Restores policy, CPUs and timer slack. */
void load_place_restore(const struct load_place *saved);

/* The last CPU this process may run on; -1: unknown. */
int load_last_cpu(void);

#endif
