/* Reads the CPU time, the run-queue time and the state of a task of a database server, from stat
 * and schedstat in /proc, which any user may read. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

struct proc_clock {
    uint64_t time_ns;
    uint64_t cpu_ns;       /* while the task runs, updated only at ticks */
    uint64_t run_queue_ns; /* updated when the task gets a CPU */
    char state;            /* a letter of proc(5); R means that the task runs or waits to run */
};

/* Finds the task that has this tid (or pid) now. The start time in *ret distinguishes the task from
 * a later task with the same tid. Returns CAMP_E_GONE if there is no such task. */
int proc_clock_find(int32_t tid, struct camp_thread *ret, struct camp_error *error);

/* Reads the data of a task. Returns CAMP_E_GONE if the task has ended, and CAMP_E_NOTSUP if this
 * kernel has no schedstat. */
int proc_clock_read(const struct camp_thread *task, struct proc_clock *ret,
                    struct camp_error *error);

/* Sets *ret_cpu_ns and *ret_run_queue_ns to the growth from `before` to `now`. The kernel updates
 * these times only at switches and ticks, so their growth may contain time from before the
 * interval, and may exceed `elapsed_ns`. In this case the run-queue time is cut first, and then the
 * CPU time. The part that is cut is subtracted from *now, so that it counts in the next interval.
 * Returns false if anything was cut. */
bool proc_clock_since(const struct proc_clock *before, struct proc_clock *now, uint64_t elapsed_ns,
                      uint64_t *ret_cpu_ns, uint64_t *ret_run_queue_ns);

/* Reads only the state of a task, which costs half as much as proc_clock_read(). */
int proc_clock_state(const struct camp_thread *task, char *ret, struct camp_error *error);
