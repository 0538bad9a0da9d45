/*
 * Accounts the counters of many members, each scraped at its own times, to common intervals. This
 * is pure arithmetic, without input or clock.
 *
 * A member is a host, a group or a row of a query. Each sample of a member has a time, a counter in
 * seconds for each column, the number of CPUs, and the member's own clock. Each counter is assumed
 * to grow evenly between two samples. So an interval may start and end anywhere between samples,
 * and all members can have the same intervals. The growth between two samples is divided among the
 * intervals that lie between them, and each ns of it is accounted once. (PromQL's increase()
 * extrapolates to the ends of its window, so the results of two adjacent windows do not add up.)
 *
 *  - A counter that decreased has restarted at 0, because its exporter restarted. Its new value is
 *    its growth. The time before the restart is in no state, and becomes unaccounted time.
 *  - A counter has no growth before its second sample.
 *  - Nothing is accounted between two samples that are more than `gap_ns` apart.
 */
#pragma once

#include "counters/clock.h"
#include "ledger/frame.h"

/* A longer period is ignored as an error. */
#define FLEET_PERIOD_MOST_NS ((int64_t)86400 * NS_PER_S)

/* A sample has these values after its counters. */
enum fleet_extra {
    FLEET_CPUS,
    FLEET_CLOCK,
    FLEET_SUM_ANSWER, /* number of the answer that has the parts of the sample's sum */
    FLEET_EXTRA_COUNT
};

struct fleet_member {
    /* entity.id is 1, 2, ... in the order in which members are added; an id is never reused */
    struct entity entity;
    char *key;
    int64_t *times_ns; /* [count] in ascending order, ns since 1970 */
    double *values;    /* [count x (columns + FLEET_EXTRA_COUNT)]; NAN if a value is missing */
    size_t count, capacity;
    size_t bytes;         /* of all that belongs to the member */
    int64_t accounted_ns; /* end of the accounted time; 0 before the first accounting */
    int64_t period_ns;    /* 0 if unknown */
    int64_t late_ns;      /* set by the caller: how much later than expected samples arrive */
    /* set by the caller: up to this time the newest answer has all series of the member */
    int64_t complete_ns;
    int64_t seen_ns; /* set by the caller: the newest sample at the newest snapshot */
    bool is_down;    /* set by the caller: the metric "up" is 0 */
    bool is_silent;  /* set by the caller: the member has no time in the newest interval */
};

struct fleet_samples {
    struct fleet_member **members;
    size_t count, capacity, columns;
    /* start of a new member's time; if it is 0, the first fleet_amounts() determines the start */
    int64_t begin_ns;
    void *by_key; /* tree of the members by key: tsearch(3) */
    /* cache for fleet_samples_find(), because adjacent series often have the same member */
    struct fleet_member *last;
    int64_t ids;
    /* set by the caller: number of the answer whose samples are added. Answers may overlap. */
    uint32_t answer;
    /* Servers are not trusted: they may send any number of members, and samples in any order. */
    size_t bytes, bytes_most;
    uint64_t moved_bytes; /* of samples that had to make space for an earlier one */
    int fault;            /* why fleet_samples_find() has failed */
};

struct fleet_amounts {
    uint64_t elapsed_ns; /* elapsed time x number of CPUs */
    uint64_t *values;    /* [columns] ns; the array belongs to the caller */
    bool is_partial;     /* a counter restarted, or there was a gap between two samples */
};

/* All members together may have `bytes_most` bytes. */
void fleet_samples_init(struct fleet_samples *ret, size_t columns, size_t bytes_most);
void fleet_samples_release(struct fleet_samples *samples);

/* Finds the member with this key. If there is none, adds a member with only key, entity.id and
 * entity.count set. Returns NULL if that fails; samples->fault is then CAMP_E_NOMEM or
 * CAMP_E_SPACE. */
struct fleet_member *fleet_samples_find(struct fleet_samples *samples, const char *key);

/* Accounts `more` bytes that the caller keeps for the member. Returns CAMP_OK or CAMP_E_SPACE. */
int fleet_samples_charge(struct fleet_samples *samples, struct fleet_member *member, size_t more);

void fleet_samples_forget(struct fleet_samples *samples, int64_t since_ns);

/* Sets a value of the sample at time_ns. `column` is below columns + FLEET_EXTRA_COUNT. If `add` is
 * true, the column is the sum of several series: adds `value` to the values of the sample that the
 * same answer had. Only one column of a member may be such a sum. Ignores samples of time that is
 * already accounted. Returns CAMP_OK, CAMP_E_NOMEM, CAMP_E_SPACE, or CAMP_E_FORMAT if the samples
 * are in such disorder that adding them would take many seconds. */
int fleet_samples_add(struct fleet_samples *samples, struct fleet_member *member, int64_t time_ns,
                      size_t column, double value, bool add);

/* Returns the time of the newest sample of a member, or 0 if the member has no sample. */
int64_t fleet_newest(const struct fleet_member *member);

/* Updates the member's period from its newest samples. `snapshot_ns` is the time between two
 * snapshots. If snapshots are rare, they may miss samples (fleet_snapshot.c), and their distances
 * look too long. So the period grows only if a distance is longer than `snapshot_ns`. */
void fleet_update_period(struct fleet_member *member, int64_t snapshot_ns);

/* Accounts the member's time until `until_ns`, or until its newest sample if that is earlier. *ret
 * is the growth since the previous call. Returns false if *ret has neither time nor a gap. If
 * samples->begin_ns is 0, the first call for a member only sets the start of its time. */
bool fleet_amounts(const struct fleet_samples *samples, struct fleet_member *member,
                   int64_t until_ns, int64_t gap_ns, struct fleet_amounts *ret);

/* Returns the end of an interval that starts at begin_ns: wanted_ns, but at least begin_ns +
 * least_ns, and always after begin_ns. If the period of scrapes has become longer, wanted_ns may be
 * before begin_ns. */
uint64_t fleet_interval_end(uint64_t begin_ns, uint64_t wanted_ns, int64_t least_ns);

/* Rounds to whole ns. Returns 0 if `ns` is negative, not a number, or too large. */
uint64_t fleet_ns(double ns);

/* Returns the values[columns + FLEET_EXTRA_COUNT] of the sample at time_ns, or NULL if there is no
 * sample within 1 ms of that time. Drops earlier samples. */
const double *fleet_sample_at(const struct fleet_samples *samples, struct fleet_member *member,
                              int64_t time_ns);
