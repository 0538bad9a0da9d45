/*
 * The scheduler's data of a task of a database server: CPU time, run-queue delay, and whether it
 * runs, waits to run, or sleeps. Any user may read them: they are in stat and schedstat of /proc.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

struct proc_clock {
    uint64_t time_ns;      /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;       /* for a running task, as of the last tick */
    uint64_t run_queue_ns; /* as of the last time the task got a CPU */
    char state;            /* as in proc(5): R runs or is runnable */
};

/* Finds the task that has this tid (or pid) now. Its start distinguishes it from later tasks with
 * the same tid. CAMP_E_GONE: there is none. */
int proc_clock_find(int32_t tid, struct camp_thread *ret, struct camp_error *error);

/* Reads the data of a task. CAMP_E_GONE: it has ended. CAMP_E_NOTSUP: this kernel has no schedstat.
 */
int proc_clock_read(const struct camp_thread *task, struct proc_clock *ret,
                    struct camp_error *error);

/* Returns the growth of both counts from `before` to `*now`, cut to `elapsed_ns` in total: CPU time
 * first, the run queue gets the rest. The kernel updates the counts only at switches and ticks, so
 * they may contain time from before the interval: the excess is subtracted from *now, and so
 * belongs to the next interval. False: there was an excess. */
bool proc_clock_since(const struct proc_clock *before, struct proc_clock *now, uint64_t elapsed_ns,
                      uint64_t *ret_cpu_ns, uint64_t *ret_run_queue_ns);

/* Reads the state alone, which costs half as much as proc_clock_read(): for samples. */
int proc_clock_state(const struct camp_thread *task, char *ret, struct camp_error *error);
