/*
 * Reads all threads and CPUs through a session of microstates (states.h), before and after an act.
 */
#pragma once

#include "sources/machine/thread_registry.h"
#include "verify_subject.h"

#include <camp/camp.h>
#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A list of zeros is empty. */
struct watch_cpu_list {
    struct camp_cpu_states *cpus; /* [count] */
    size_t count, capacity;
};

/* Reads all CPUs of the session, and enlarges the list if needed. */
int watch_read_cpus(struct camp_states *session, struct watch_cpu_list *ret,
                    struct camp_error *error);

/* A snapshot. `earlier` and `later` are readings of the CPUs before and after the threads were
 * read. */
struct watch_snapshot {
    struct watch_cpu_list earlier, later;
    uint64_t time_ns; /* CLOCK_MONOTONIC before the threads were read */
    /* CPU time of process 1 if the session does not show its threads, otherwise 0 */
    uint64_t hidden_ns;
};

struct watch {
    struct camp_states *session;
    struct thread_registry registry;
    struct watch_snapshot before, after;
    struct thread_list threads; /* what each thread did between the snapshots */
    bool shows_process_1;
};

#define WATCH_NONE                                                                                 \
    {                                                                                              \
        .session = NULL                                                                            \
    }

/* Opens the session. *watch must not move then. It also makes every CPU switch once, because a CPU
 * is known only after its first switch. The caller must call watch_close(), even after a failure.
 */
int watch_open(struct watch *watch, struct camp_error *error);

int watch_before(struct watch *watch, struct camp_error *error);
int watch_after(struct watch *watch, struct camp_error *error);

/* Gets the growth of the times and counters of a process's first thread between the snapshots, from
 * ret->begin_ns to ret->time_ns. Returns false if the thread is not in both snapshots. */
bool watch_process(const struct watch *watch, pid_t pid, struct camp_thread_states *ret);

/* Takes the snapshot `before`, lets the subject act, and takes the snapshot `after`. Fills *ret by
 * watch_process() for the subject. */
int watch_act(struct watch *watch, struct subject *subject, struct camp_thread_states *ret,
              struct camp_error *error);

/* Returns the CPU time of process 1 since it started. On some virtual machines, BPF iterators do
 * not show the threads of process 1, but /proc does. */
uint64_t watch_process_1_ns(void);

/* Returns the CPU time of all threads between the snapshots, without interrupts. Exited and hidden
 * threads are included. */
uint64_t watch_threads_ns(const struct watch *watch);

/* Sums over all CPUs between the snapshots. wall_ns is the wall time. rest_ns is the part of it
 * that was idle, or was used by interrupts or by threads outside of the PID namespace. The interval
 * is from before.later to after.earlier, or, if `whole` is true, from before.earlier to
 * after.later. */
struct watch_cpus {
    double wall_ns, rest_ns;
};
struct watch_cpus watch_cpus(const struct watch *watch, bool whole);

void watch_close(struct watch *watch);
