/*
 * A watched process, which sleeps whenever the library reads it. So the readings before and after
 * an act are exact (the clock of a running task may lag by a tick), and the process itself reports
 * what it did in between.
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
    uint64_t start_delay_ns;  /* from subject_start() to the act: at least its run delay */
    uint64_t until_asleep_ns; /* from the subject's last reading until the watcher saw it asleep */
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

/* Forks the subject, which is asleep on return. subject_end() releases it, also after a failure.
 * `act` is a load, or a function like one. Its truth is shared with the watcher, and zero before
 * the first act. */
int subject_open(struct subject *subject, load_function *act, const void *plan, size_t truth_size,
                 struct camp_error *error);

/* Starts an act. Acts may be repeated: start, wait, start, wait. */
void subject_start(struct subject *subject);

/* Waits until the act is over and the subject asleep again; returns the act's own result. */
int subject_wait(struct subject *subject, struct camp_error *error);

/* subject_start() and subject_wait(). */
int subject_do(struct subject *subject, struct camp_error *error);

/* Read the bounds of what the library may report of a sleeping subject. The lower bound is the sum
 * of the records of its acts, which exclude falling asleep and waking. The upper bound is the
 * difference between two readings by the subject: its last one before the library's first
 * (subject_mark(), which does not wake it), and one for which subject_since() wakes it. */
struct act_record subject_mark(const struct subject *subject);
int subject_since(struct subject *subject, const struct act_record *mark, struct act_record *ret,
                  struct camp_error *error);

const void *subject_truth(const struct subject *subject);
const struct act_record *subject_record(const struct subject *subject); /* record of the last act */

void subject_end(struct subject *subject);

/* A subject whose members `wanted` the library reads before and after an act. */
struct observed {
    struct subject subject;
    struct act_record mark, most; /* bounds of the subject's counts: see subject_mark() */
    struct camp_task before, after;
};

/* Let observed[count] act at the same time: observed_open(), observed_act(), and observed_bound(),
 * which fills `most`. Each returns the result of the subjects; a failure of the library is stored
 * in *library. */
int observed_open(struct observed *observed, size_t count, load_function *act, const void *plan,
                  size_t truth_size, uint32_t wanted, struct camp_error *library,
                  struct camp_error *error);
int observed_act(struct observed *observed, size_t count, uint32_t wanted,
                 struct camp_error *library, struct camp_error *error);
int observed_bound(struct observed *observed, size_t count, struct camp_error *error);

/* Calls observed_open(), observed_act() and observed_bound(). */
int observe(struct observed *observed, size_t count, load_function *act, const void *plan,
            size_t truth_size, uint32_t wanted, struct camp_error *library,
            struct camp_error *error);

/* Reads the wanted members of a sleeping subject, unless the library has failed. */
void subject_read(const struct subject *subject, uint32_t wanted, struct camp_task *ret,
                  struct camp_error *library);
