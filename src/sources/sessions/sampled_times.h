/*
 * Converts samples of sessions to times by the trapezoid rule: a sample counts for half of the time
 * since the previous snapshot, and for half of the time to the next snapshot. The result is
 * unbiased if the times of the snapshots do not depend on the load.
 *
 * A session that started between two snapshots is accounted from its start. A session that ended
 * between two snapshots gets half of the time between them. Samples account for at most
 * `longest_ns` between two snapshots. Any further time is in no state and shows as unaccounted.
 *
 * Each time has two values: reported_ns is all time that the database reports, and asleep_ns is the
 * part during which the operating system found the task asleep. They differ because a PostgreSQL
 * backend that was woken keeps its wait event until it gets a CPU.
 *
 * The functions do no I/O and read no clock. All times are CLOCK_MONOTONIC.
 */
#pragma once

#include "ledger/labels.h"
#include "ledger/session_rules.h"

#include <camp/camp.h>

struct sampled_time {
    /* the texts of a struct session_kind, interned; LABELS_LOST if memory has run out */
    labels_id kind;
    int64_t statement; /* of the samples; 0 for none */
    uint64_t reported_ns;
    uint64_t asleep_ns; /* part of reported_ns */
};

struct sampled_session {
    int64_t id, start; /* id and start together identify a session */
    /* The session's own wall time in the interval. The end of an ended session is uncertain by half
     * of the time between two snapshots. */
    uint64_t elapsed_ns;
    uint64_t sample_count;
    bool is_new, is_ended;
    struct sampled_time *times; /* [time_count] */
    size_t time_count;
    size_t time_capacity;
    uint64_t accounted_until_ns; /* end of the time that is included in elapsed_ns and `times` */
    uint64_t last_snapshot;      /* number of the last snapshot that contains the session */
    labels_id kind;
    int64_t statement;
    bool was_asleep;
};

struct sampled_times {
    uint64_t longest_ns;
    struct sampled_session **sessions; /* [count], in ascending order of ids, then of starts */
    size_t count, capacity;
    uint64_t begin_ns;
    uint64_t snapshot_ns; /* time of the last snapshot; 0 before the first */
    uint64_t snapshot;
    size_t arrived; /* number of sessions that were new in the last snapshot */
};

struct session_sample {
    int64_t id, start;
    uint64_t start_ns; /* start of the session; 0 if unknown */
    struct session_kind kind;
    bool is_asleep;
    int64_t statement; /* a time is of one statement; 0 for none, and if they do not matter */
};

void sampled_times_init(struct sampled_times *times, uint64_t longest_ns);
void sampled_times_release(struct sampled_times *times);

/* Starts an interval: sets the times of all sessions to zero, and removes ended sessions. */
void sampled_times_begin(struct sampled_times *times, uint64_t begin_ns);

/* Adds a snapshot. Its time `at_ns` must be later than the times of all earlier snapshots.
 * samples[count] has one sample of each session, in any order. CAMP_OK or CAMP_E_NOMEM. */
int sampled_times_add(struct sampled_times *times, uint64_t at_ns,
                      const struct session_sample *samples, size_t count);

/* Ends the interval. The time between the last snapshot and `end_ns` counts as elapsed for living
 * sessions, but is in no state. */
void sampled_times_end(struct sampled_times *times, uint64_t end_ns);

/* Returns NULL if the session is unknown, or ended before the interval. */
struct sampled_session *sampled_times_find(const struct sampled_times *times, int64_t id,
                                           int64_t start);
