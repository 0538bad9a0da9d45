/*
 * Threads for users without capabilities. The time of a thread between two snapshots has three
 * states: on a CPU, on the run queue, and the rest. The times on a CPU and on the run queue come
 * from /proc/PID/task/TID/schedstat, which every user may read.
 *
 * Unlike threads.c (microstates), this source does not know why a thread sleeps, and does not
 * divide CPU time into user and system. It misses threads that started and ended between two
 * snapshots. A snapshot opens two files for each thread.
 */
#pragma once

#include "sources/source.h"

struct schedstat_selection {
    /* [pid_count] Only threads of these processes have rows; if pid_count is 0, all threads. The
     * caller may change the array while the source is open. */
    const int32_t *pids;
    size_t pid_count;
    bool no_kernel_threads;
};

/* Returns CAMP_E_NOTSUP if this kernel has no schedstat. */
int threads_schedstat_open(const struct schedstat_selection *selection,
                           const volatile sig_atomic_t *stop, struct source **ret,
                           struct camp_error *error);
