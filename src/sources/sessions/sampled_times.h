/*
 * Converts samples of sessions to times: a sample counts for half of the time since the snapshot
 * before, and half of the time to the next snapshot (the trapezoid rule: unbiased if the times of
 * snapshots do not depend on the load). A session that started since the snapshot before is
 * accounted from its start; a session that has ended since gets half of that time. Samples cover at
 * most `longest_ns` between two snapshots: the rest is in no state, and shows as unaccounted.
 *
 * Each time is kept twice: as the database reports it, and the part of it in which the task was
 * asleep for the operating system (a woken backend keeps its wait event until it gets a CPU).
 *
 * Pure arithmetic: no I/O, no clock. Times are CLOCK_MONOTONIC.
 */
#pragma once

#include "ledger/labels.h"
#include "ledger/session_rules.h"

#include <camp/camp.h>

struct sampled_time {
    const struct labels *kind; /* interned texts of struct session_kind; NULL: no memory */
    uint64_t reported_ns;
    uint64_t asleep_ns; /* part of reported_ns */
};

struct sampled_session {
    int64_t id, start;     /* identity: a different start is a different session */
    uint64_t elapsed_ns;   /* its own time in the interval; the end of an ended session is uncertain
                            * by half the time between two snapshots */
    uint64_t sample_count; /* in the interval */
    bool is_new, is_ended; /* in the interval */
    struct sampled_time *times; /* [time_count] */
    size_t time_count;
    size_t time_capacity;
    uint64_t accounted_until_ns; /* end of the time that elapsed_ns and times account for */
    uint64_t last_snapshot;      /* number of the last snapshot that contains it */
    const struct labels *kind;   /* its state in that snapshot */
    bool was_asleep;
};

struct sampled_times {
    uint64_t longest_ns;
    struct sampled_session **sessions; /* [count], ascending by id, then start */
    size_t count, capacity;
    uint64_t begin_ns;    /* start of the interval */
    uint64_t snapshot_ns; /* time of the last snapshot; 0: there was none */
    uint64_t snapshot;    /* its number */
    size_t arrived;       /* number of sessions that are new in the last snapshot */
};

/* A session in a snapshot. */
struct session_sample {
    int64_t id, start;
    uint64_t start_ns; /* start of the session; 0: long ago */
    struct session_kind kind;
    bool is_asleep;
};

/* longest_ns: the longest time between two snapshots that is covered by samples. */
void sampled_times_init(struct sampled_times *times, uint64_t longest_ns);
void sampled_times_release(struct sampled_times *times);

/* Starts an interval: sets times to zero, and removes ended sessions. */
void sampled_times_begin(struct sampled_times *times, uint64_t begin_ns);

/* Adds a snapshot, later than the last one: samples[count] are all sessions, in any order. CAMP_OK
 * or CAMP_E_NOMEM. */
int sampled_times_add(struct sampled_times *times, uint64_t at_ns,
                      const struct session_sample *samples, size_t count);

/* Ends the interval. Without a snapshot at its end, the time since the last snapshot counts as
 * elapsed for living sessions, but is in no state. */
void sampled_times_end(struct sampled_times *times, uint64_t end_ns);

/* Finds a session; NULL: no snapshot of the interval contains it. */
struct sampled_session *sampled_times_find(const struct sampled_times *times, int64_t id,
                                           int64_t start);
