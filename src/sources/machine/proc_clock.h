/* The scheduler's data of a task of a database server: its CPU time, its run-queue time, and
 * whether it runs, waits to run, or sleeps. They come from stat and schedstat in /proc, which any
 * user may read. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

struct proc_clock {
    uint64_t time_ns;
    uint64_t cpu_ns;       /* of a running task: as of the last tick */
    uint64_t run_queue_ns; /* as of the last time when the task got a CPU */
    char state;            /* as in proc(5); R is a task that runs or waits to run */
};

/* Finds the task that has this tid (or pid) now. *ret also has its start time, which distinguishes
 * it from a later task with the same tid. Returns CAMP_E_GONE if there is no such task. */
int proc_clock_find(int32_t tid, struct camp_thread *ret, struct camp_error *error);

/* Reads the data of a task. Returns CAMP_E_GONE if the task has ended, and CAMP_E_NOTSUP if this
 * kernel has no schedstat. */
int proc_clock_read(const struct camp_thread *task, struct proc_clock *ret,
                    struct camp_error *error);

/* Returns how much CPU time and run-queue time grew from `before` to `*now`. Their sum is
 * limited to `elapsed_ns`; if it is more, the run-queue time is cut first. The kernel updates
 * these times only at switches and ticks, so they may contain time from before the interval. The
 * excess is subtracted from *now, and so belongs to the next interval. Returns false if there
 * was an excess. */
bool proc_clock_since(const struct proc_clock *before, struct proc_clock *now, uint64_t elapsed_ns,
                      uint64_t *ret_cpu_ns, uint64_t *ret_run_queue_ns);

/* Reads only the state of a task, which costs half as much as proc_clock_read(). */
int proc_clock_state(const struct camp_thread *task, char *ret, struct camp_error *error);
