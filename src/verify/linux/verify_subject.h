/*
 * A subject is a child process that runs a load, called its act. The subject sleeps while the
 * library reads it, so the readings before and after an act are exact. (The clock of a running task
 * may lag by a tick.) The subject also measures itself during the act.
 */
#pragma once

#include "load/load.h"

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the subject measured during an act, from its own clocks and getrusage(2). */
struct act_record {
    uint64_t own_ns;
    uint64_t wall_ns;
    /* the time from subject_start() to the start of the act, which includes run delay */
    uint64_t start_delay_ns;
    /* the time from the last reading of the subject until its parent saw it asleep */
    uint64_t until_asleep_ns;
    uint64_t read_bytes, written_bytes; /* from blocks of 512 bytes, by getrusage(2) */
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

/* Forks the subject, which is asleep on return. The caller must call subject_end(), even after a
 * failure. `act` is a load function, which writes its results to `truth`: memory of truth_size
 * bytes that the parent can read. `truth` is zero before the first act. */
int subject_open(struct subject *subject, load_function *act, const void *plan, size_t truth_size,
                 struct camp_error *error);

/* Starts an act. A subject can act several times. */
void subject_start(struct subject *subject);

/* Waits until the act is over and the subject is asleep. Returns the result of the act. */
int subject_wait(struct subject *subject, struct camp_error *error);

int subject_do(struct subject *subject, struct camp_error *error);

/* Bound what the library may report for the acts between subject_mark() and subject_since().
 * subject_mark() returns the last reading that the subject made of itself before it fell asleep.
 * subject_since() wakes the subject for one more reading, and returns the growth since `mark`. This
 * growth is an upper bound, because it includes falling asleep and waking. The sum of the act
 * records is a lower bound, because it does not include them. */
struct act_record subject_mark(const struct subject *subject);
int subject_since(struct subject *subject, const struct act_record *mark, struct act_record *ret,
                  struct camp_error *error);

const void *subject_truth(const struct subject *subject);
/* the record of the last act */
const struct act_record *subject_record(const struct subject *subject);

void subject_end(struct subject *subject);

/* A subject that the library reads before and after an act. */
struct observed {
    struct subject subject;
    /* `most` is the growth since `mark` (subject_since()), an upper bound of what the library may
     * report. */
    struct act_record mark, most;
    struct camp_task before, after;
};

/* Let all subjects of observed[count] act at the same time. observed_open() reads `before`,
 * observed_act() runs the acts and reads `after`, and observed_bound() fills `most`. They return
 * errors of the subjects, and store errors of the library in *library. */
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

/* Reads the wanted members of a sleeping subject, unless *library already has an error. */
void subject_read(const struct subject *subject, uint32_t wanted, struct camp_task *ret,
                  struct camp_error *library);
