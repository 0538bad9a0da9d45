/*
 * A process to be watched, asleep whenever it is looked at: what the library reads of it before and
 * after an act is then exact, without the tick by which the clock of a running task may lag, and
 * what it did in between it says itself.
 */
#ifndef CAMP_VERIFY_VERIFY_SUBJECT_H
#define CAMP_VERIFY_VERIFY_SUBJECT_H

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a subject knows of itself: the difference between its first and its last moment of an act.
 * The clocks are its own, the counts those of getrusage(2). */
struct act_record {
    uint64_t own_ns;
    uint64_t wall_ns;
    uint64_t woken_ns; /* from subject_start() to its first moment: of run queue delay, or more */
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

/* Forks it. It sleeps when this returns. subject_end() releases it, also after a failure. */
int subject_begin(struct subject *subject, subject_act *act, const void *plan, size_t truth_size,
                  struct camp_error *error);

/* Lets it act. It may act again and again: start, wait, start, wait. */
void subject_start(struct subject *subject);

/* Waits until the act is over and it sleeps again; the act's own result. */
int subject_wait(struct subject *subject, struct camp_error *error);

/* subject_start() and subject_wait(). */
int subject_do(struct subject *subject, struct camp_error *error);

/* Bounds of what the library reads of a sleeping subject. The lower bound is the sum of the records
 * of its acts: they do not include falling asleep and waking. The upper bound is the difference
 * between its last reading before the library's first one (subject_mark(), while it sleeps) and a
 * reading for which subject_since() wakes it. */
struct act_record subject_mark(const struct subject *subject);
int subject_since(struct subject *subject, const struct act_record *mark, struct act_record *ret,
                  struct camp_error *error);

const void *subject_truth(const struct subject *subject);
const struct act_record *subject_record(const struct subject *subject); /* of its last act */

void subject_end(struct subject *subject);

#endif
