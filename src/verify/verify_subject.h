/*
 * A watched process, asleep whenever the library reads it: readings before and after an act are
 * then exact, without the tick by which the clock of a running task may lag, and the process
 * reports itself what it did in between.
 */
#pragma once

#include "load/load.h"

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A subject's own measurement: the difference between the first and the last moment of its act. The
 * clocks are its own, the counts those of getrusage(2). */
struct act_record {
    uint64_t own_ns;
    uint64_t wall_ns;
    uint64_t start_delay_ns; /* upper bound of the run queue delay from subject_start() to its first
                              * moment */
    uint64_t until_asleep_ns;           /* from its last reading until the watcher saw it asleep */
    uint64_t read_bytes, written_bytes; /* blocks of 512 bytes, by getrusage(2) */
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
};

struct subject {
    pid_t pid;
    struct camp_process process;
    struct subject_shared *shared;
    size_t size;
};

/* Forks it. It is asleep on return. subject_end() releases it, also after a failure. The act is a
 * load or a function like it. Its truth is shared with the watcher, and zero before the first act.
 */
int subject_open(struct subject *subject, load_function *act, const void *plan, size_t truth_size,
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

/* A subject whose members `wanted` the library reads before and after an act. */
struct observed {
    struct subject subject;
    struct act_record mark, most; /* bounds of its counts: see subject_mark() */
    struct camp_task before, after;
};

/* Lets observed[count] act at the same time, from `open` to `bound`, which fills `most`. Each
 * returns the result of the subjects; a failure of the library goes to *library. */
int observed_open(struct observed *observed, size_t count, load_function *act, const void *plan,
                  size_t truth_size, uint32_t wanted, struct camp_error *library,
                  struct camp_error *error);
int observed_act(struct observed *observed, size_t count, uint32_t wanted,
                 struct camp_error *library, struct camp_error *error);
int observed_bound(struct observed *observed, size_t count, struct camp_error *error);

/* The three together. */
int observe(struct observed *observed, size_t count, load_function *act, const void *plan,
            size_t truth_size, uint32_t wanted, struct camp_error *library,
            struct camp_error *error);

/* Reads the wanted members of a sleeping subject, unless the library has failed. */
void subject_read(const struct subject *subject, uint32_t wanted, struct camp_task *ret,
                  struct camp_error *library);
