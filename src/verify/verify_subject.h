/*
 * A watched process, asleep whenever the library reads it: readings before and after an act are
 * then exact, without the tick by which the clock of a running task may lag, and the process
 * reports itself what it did in between.
 */
#pragma once

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A subject's own measurement: the difference between the first and the last moment of its act. The
 * clocks are its own, the counts those of getrusage(2). */
struct act_record {
    uint64_t own_ns;
    uint64_t wall_ns;
    uint64_t woken_ns; /* upper bound of the run queue delay from subject_start() to its first
                        * moment */
    uint64_t rest_ns;  /* from its last reading until the watcher saw it asleep */
    uint64_t read_bytes, written_bytes; /* blocks of 512 bytes, by getrusage(2) */
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
};

/* `truth` is shared with the watcher, and zero before the first act. */
typedef int subject_act(const void *plan, void *truth, struct camp_error *error);

struct subject {
    pid_t pid;
    struct camp_process process;
    struct subject_shared *shared;
    size_t size;
};

#define SUBJECT_NONE                                                                               \
    {                                                                                              \
        .pid = -1                                                                                  \
    }

/* Forks it. It is asleep on return. subject_end() releases it, also after a failure. */
int subject_open(struct subject *subject, subject_act *act, const void *plan, size_t truth_size,
                 struct camp_error *error);

/* Starts an act. Acts may be repeated: start, wait, start, wait. */
void subject_start(struct subject *subject);

/* Waits until the act is over and the subject asleep again; returns the act's own result. */
int subject_wait(struct subject *subject, struct camp_error *error);

/* subject_start() and subject_wait(). */
int subject_do(struct subject *subject, struct camp_error *error);

/* Bounds of what the library reads of a sleeping subject. The lower bound is the sum of its acts'
 * records: they exclude falling asleep and waking. The upper bound is the difference between its
 * last reading before the library's first one (subject_mark(), while it sleeps) and a reading for
 * which subject_since() wakes it. */
struct act_record subject_mark(const struct subject *subject);
int subject_since(struct subject *subject, const struct act_record *mark, struct act_record *ret,
                  struct camp_error *error);

const void *subject_truth(const struct subject *subject);
const struct act_record *subject_record(const struct subject *subject); /* of the last act */

void subject_end(struct subject *subject);
