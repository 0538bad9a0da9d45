/*
 * Threads for users without capabilities: the time between two snapshots, divided into time on a
 * CPU, on the run queue, and the rest, by the scheduler's counts (/proc/PID/task/TID/schedstat,
 * which every user may read).
 *
 * Unlike microstates (threads.c), it does not know why a thread sleeps, does not divide CPU time
 * into user and system, and misses threads that started and ended between two snapshots. A snapshot
 * opens two files for each thread.
 */
#pragma once

#include "sources/source.h"

/* Which threads are rows. `pids` may change until the source is closed. */
struct schedstat_selection {
    const int32_t *pids; /* [pid_count]: only these processes; none: all */
    size_t pid_count;
    bool no_kernel_threads;
};

/* CAMP_E_NOTSUP: this kernel keeps no schedstat. */
int threads_schedstat_open(const struct schedstat_selection *selection,
                           const volatile sig_atomic_t *stop, struct source **ret,
                           struct camp_error *error);
