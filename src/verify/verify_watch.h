/*
 * A session of microstates (states.h) around an act: all threads and CPUs before and after.
 */
#pragma once

#include "sources/machine/thread_interval.h"
#include "verify_subject.h"

#include <camp/camp.h>
#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A snapshot of all threads, and of the CPUs just before and just after it. */
struct watch_snapshot {
    struct thread_list threads;
    struct camp_cpu_states *earlier, *later; /* [cpu_count] */
    size_t cpu_count;
    uint64_t time_ns;   /* CLOCK_MONOTONIC before the threads were read */
    uint64_t hidden_ns; /* CPU time of threads that are not shown: those of process 1 */
};

/* watch_close() releases it. */
struct watch {
    struct camp_states *session;
    struct watch_snapshot before, after;
    struct thread_list exited; /* threads that have exited, read after the second snapshot */
};

#define WATCH_NONE                                                                                 \
    {                                                                                              \
        .session = NULL                                                                            \
    }

/* Opens the session, and lets every CPU switch once, because a CPU is known from then on. */
int watch_open(struct watch *watch, struct camp_error *error);

int watch_before(struct watch *watch, struct camp_error *error);
int watch_after(struct watch *watch, struct camp_error *error);

/* Returns the times and counters of a process's first thread between the snapshots, that is from
 * ret->begin_ns to ret->time_ns; false: the thread is not in both. */
bool watch_process(const struct watch *watch, pid_t pid, struct camp_thread_states *ret);

/* Lets the subject act between two snapshots; *ret is what its first thread did. */
int watch_act(struct watch *watch, struct subject *subject, struct camp_thread_states *ret,
              struct camp_error *error);

/* CPU time of the threads of process 1 so far, which some virtual machines hide from an iterator
 * but not from /proc. */
uint64_t watch_process_1_ns(void);

/* Returns the CPU time of all threads (shown, exited and hidden ones) between the snapshots,
 * without interrupts. */
uint64_t watch_threads_ns(const struct watch *watch);

/* The CPUs between the snapshots: their wall time, and the idle and interrupt time in it. The
 * interval is from the second reading of the first snapshot to the first reading of the second one;
 * with `whole`, from the first reading of all to the last. */
struct watch_cpus {
    double wall_ns, rest_ns;
};
struct watch_cpus watch_cpus(const struct watch *watch, bool whole);

void watch_close(struct watch *watch);
