/*
 * A session of microstates (states.h) beside an act: all threads and CPUs before it and after it.
 */
#ifndef CAMP_VERIFY_VERIFY_WATCH_H
#define CAMP_VERIFY_VERIFY_WATCH_H

#include "verify_subject.h"

#include <camp/camp.h>
#include <camp/states.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All threads at one go, and what the CPUs had done just before and just after. */
struct watch_look {
    struct camp_thread_states *threads; /* [thread_count] */
    size_t thread_count;
    struct camp_cpu_states *earlier, *later; /* [cpu_count] */
    size_t cpu_count;
    uint64_t time_ns;   /* CLOCK_MONOTONIC before the threads were read */
    uint64_t hidden_ns; /* CPU time of threads that are not shown: those of process 1 */
};

/* Owned: watch_close(). */
struct watch {
    struct camp_states *session;
    struct watch_look before, after;
    struct camp_thread_states *ended; /* [ended_count]: taken after the second look */
    size_t ended_count;
};

#define WATCH_NONE                                                                                 \
    {                                                                                              \
        .session = NULL                                                                            \
    }

/* Opens the session, and lets every CPU switch once: it is known from then on. */
int watch_open(struct watch *watch, struct camp_error *error);

int watch_before(struct watch *watch, struct camp_error *error);
int watch_after(struct watch *watch, struct camp_error *error);

/* What a thread was at the first look; NULL: it was not there. *hint: where to begin to look; both
 * looks are in the same order. */
const struct camp_thread_states *watch_then(const struct watch *watch,
                                            const struct camp_thread_states *now, size_t *hint);

/* What the first thread of a process did in between, times and counters; false: it was not there at
 * both looks. ret->time_ns is how long that is. */
bool watch_process(const struct watch *watch, pid_t pid, struct camp_thread_states *ret);

/* Lets the subject act between two looks: what it did. */
int watch_act(struct watch *watch, struct subject *subject, struct camp_thread_states *ret,
              struct camp_error *error);

/* CPU time of the threads of process 1 so far, which some virtual machines hide from an iterator
 * but not from /proc. */
uint64_t watch_process_1_ns(void);

/* CPU time of all threads between the looks, without interrupts: of those shown, of those that
 * ended, and of hidden ones. */
uint64_t watch_threads_ns(const struct watch *watch);

/* The CPUs between the looks: their time, and of it idle or in interrupts. From the second reading
 * of the first look to the first of the second one, or with `whole` the other way round. */
struct watch_cpus {
    double wall_ns, rest_ns;
};
struct watch_cpus watch_cpus(const struct watch *watch, bool whole);

void watch_close(struct watch *watch);

#endif
