/*
 * Looks at sessions, made to times: what was seen at a moment counts for half of the time to the
 * snapshot before, and half of that to the next one (the trapezoid rule: unbiased for moments that
 * do not follow the load). A session that began since the snapshot before is booked from its
 * beginning on; one that has ended since, half of that time. What is longer than `longest_ns`
 * between two sample_count was not seen: the rest of it is in no time, so that it shows as
 * unaccounted.
 *
 * Each time is kept twice: as the database told it, and that of it in which the task was asleep
 * by the operating system (a woken backend keeps its wait event until it gets a CPU).
 *
 * Pure arithmetic: no I/O, no clock. Times are CLOCK_MONOTONIC.
 */
#ifndef CAMP_SOURCES_SESSIONS_SAMPLED_TIMES_H
#define CAMP_SOURCES_SESSIONS_SAMPLED_TIMES_H

#include "ledger/labels.h"
#include "ledger/session_rules.h"

#include <camp/camp.h>

struct sampled_time {
    const struct labels
        *kind; /* interned, the texts of struct session_kind; NULL: no memory for it */
    uint64_t reported_ns;
    uint64_t asleep_ns; /* of reported_ns */
};

struct sampled_session {
    int64_t id, start; /* who it is: another start is another session */
    uint64_t
        elapsed_ns; /* R: its own time in the interval; of one that ended about half a gap off */
    uint64_t sample_count;      /* that saw it in the interval */
    bool is_new, is_ended;      /* in the interval */
    struct sampled_time *times; /* [time_count] */
    size_t time_count;
    size_t time_capacity;
    uint64_t accounted_until_ns; /* until when elapsed_ns and times are booked */
    uint64_t last_snapshot;      /* the last one that saw it */
    const struct labels *kind;   /* what it did then */
    bool was_asleep;
};

struct sampled_times {
    uint64_t longest_ns;
    struct sampled_session **sessions; /* [count], ascending by id, then start */
    size_t count, capacity;
    uint64_t begin_ns;    /* of the interval */
    uint64_t snapshot_ns; /* of the last snapshot; 0: there was none */
    uint64_t snapshot;    /* its number */
    size_t arrived;       /* how many sessions it saw for the first time */
};

/* What a snapshot saw of a session. */
struct session_sample {
    int64_t id, start;
    uint64_t start_ns; /* when it began; 0: long ago */
    struct session_kind kind;
    bool is_asleep;
};

/* longest_ns: what two sample_count may be apart. */
void sampled_times_init(struct sampled_times *times, uint64_t longest_ns);
void sampled_times_release(struct sampled_times *times);

/* An interval begins: times are zero, and who had ended is gone. */
void sampled_times_begin(struct sampled_times *times, uint64_t begin_ns);

/* A snapshot at that moment, later than the last: samples[count] are all sessions there are, any
 * order. CAMP_OK or CAMP_E_NOMEM. */
int sampled_times_add(struct sampled_times *times, uint64_t at_ns,
                      const struct session_sample *samples, size_t count);

/* The interval ends. Where no snapshot was made then, the time since the last belongs to who lived,
 * and is in no time of theirs. */
void sampled_times_end(struct sampled_times *times, uint64_t end_ns);

#endif
