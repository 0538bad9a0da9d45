/*
 * What the scheduler says of any task of a database server: its CPU time, its run-queue delay, and
 * whether it runs, waits to run, or sleeps. From stat and schedstat of /proc: any user may.
 */
#ifndef CAMP_SOURCES_MACHINE_PROC_CLOCK_H
#define CAMP_SOURCES_MACHINE_PROC_CLOCK_H

#include <camp/camp.h>

#include <stdbool.h>

struct proc_clock {
    uint64_t time_ns;      /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;       /* of one that runs as of the last tick */
    uint64_t run_queue_ns; /* as of when it last got a CPU */
    char state;            /* as in proc(5): R runs or is runnable */
};

/* Who has this tid now (a process: its pid), told from whoever has it later by its start.
 * CAMP_E_GONE: nobody. */
int proc_clock_find(int32_t tid, struct camp_thread *ret, struct camp_error *error);

/* CAMP_E_GONE: it has ended. CAMP_E_NOTSUP: this kernel keeps no schedstat. */
int proc_clock_read(const struct camp_thread *task, struct proc_clock *ret,
                    struct camp_error *error);

/* What was counted from `before` to `*now`, together at most `elapsed_ns`, CPU time first. Both
 * counts are brought up to date at switches and ticks only, so that they may have time of before an
 * interval in them: what there is no room for is taken off *now, and so belongs to the next one.
 * False: there was such a rest. */
bool proc_clock_since(const struct proc_clock *before, struct proc_clock *now, uint64_t elapsed_ns,
                      uint64_t *ret_cpu_ns, uint64_t *ret_run_queue_ns);

/* The state alone, at half the cost: for samples. */
int proc_clock_state(const struct camp_thread *task, char *ret, struct camp_error *error);

#endif
