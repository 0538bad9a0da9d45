/* Where and how a load runs: what is changed of the calling thread for it, and put back. */
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

/* Timers on time (a slack of 1 ns), and this CPU alone (-1: any). What was before goes to *saved,
 * also when the CPU cannot be had. Threads made from now on begin the same way. */
int load_take_place(struct load_place *saved, int cpu, struct camp_error *error);

/* Policy, CPUs and slack as they were. */
void load_give_back_place(const struct load_place *saved);

/* The last CPU that this process may run on; -1: not known. */
int load_last_cpu(void);

#endif
