/*
 * Counters of many members, each scraped at its own times, converted to amounts of common
 * intervals. This is pure arithmetic, without input or clock.
 *
 * A member is a host, a group or a row of a query. Each sample of a member has a time, a counter in
 * seconds for each column, the number of CPUs, and the member's own clock. Each counter is assumed
 * to grow evenly between two samples. So an interval may start and end anywhere between samples,
 * and all members can have the same intervals. The difference between two samples is divided among
 * the intervals between them, and each ns of it is accounted once. (PromQL's increase()
 * extrapolates to the ends of its window, so the results of two adjacent windows do not add up.)
 *
 *  - A counter that decreased has restarted at 0, because its exporter restarted. Its new value is
 *    its growth. The time before the restart is in no state, and becomes unaccounted time.
 *  - A counter has no growth before its second sample.
 *  - Nothing is accounted between two samples that are more than `gap_ns` apart.
 */
#pragma once

#include "ledger/frame.h"

/* The columns that each sample has after its counters. */
enum fleet_extra { FLEET_CPUS, FLEET_CLOCK, FLEET_EXTRA_COUNT };

struct fleet_member {
    /* entity.id is 1, 2, ... in the order in which members are added; an id is never reused */
    struct entity entity;
    char *key;
    int64_t *times_ns; /* [count] in ascending order, ns since 1970 */
    double *values;    /* [count x (columns + FLEET_EXTRA_COUNT)]; NAN if a value is missing */
    size_t count, capacity;
    int64_t accounted_ns; /* end of the accounted time; 0 before the first accounting */
    int64_t period_ns;    /* 0 if unknown */
    int64_t late_ns;      /* set by the caller: how much later than expected samples arrive */
    /* set by the caller: time of the sample in the current answer; 0 if it has none */
    int64_t now_ns;
    bool is_down;   /* set by the caller: the metric "up" is 0 */
    bool is_silent; /* set by the caller: the member has no time in the last interval */
};

struct fleet_samples {
    struct fleet_member **members;
    size_t count, capacity, columns;
    /* start of the first interval of a new member; if it is 0, the interval starts at the first
     * sample */
    int64_t begin_ns;
    void *by_key; /* tree of the members by key: tsearch(3) */
    /* cache for fleet_samples_find(): the series of a member are adjacent in an answer */
    struct fleet_member *last;
    int64_t ids;
};

struct fleet_amounts {
    uint64_t elapsed_ns; /* of all CPUs of the member together */
    uint64_t *values;    /* [columns] ns; the array belongs to the caller */
    bool is_partial;     /* a counter restarted, or there was a gap between two samples */
};

void fleet_samples_init(struct fleet_samples *ret, size_t columns);
void fleet_samples_release(struct fleet_samples *samples);

/* Finds the member with this key. If there is none, adds a member in which only the key, the id and
 * entity.count are set. Returns NULL if there is no memory. */
struct fleet_member *fleet_samples_find(struct fleet_samples *samples, const char *key);

void fleet_samples_forget(struct fleet_samples *samples, int64_t since_ns);

/* Sets a value of the sample at time_ns. `column` is below columns + FLEET_EXTRA_COUNT. If `add` is
 * true, adds to the earlier value instead, because the column is the sum of several series. Ignores
 * a sample whose time is already accounted. Returns CAMP_OK or CAMP_E_NOMEM. */
int fleet_samples_add(const struct fleet_samples *samples, struct fleet_member *member,
                      int64_t time_ns, size_t column, double value, bool add);

/* Returns the time of the newest sample of a member, or 0 if the member has no sample. */
int64_t fleet_newest(const struct fleet_member *member);

/* Updates the member's period from its last samples. `snapshot_ns` is the time between two
 * snapshots. A snapshot reads only the newest sample, so rare snapshots make the distance of
 * samples look long. The period therefore grows only if snapshots are more frequent than
 * samples. */
void fleet_update_period(struct fleet_member *member, int64_t snapshot_ns);

/* Accounts the member's time until `until_ns`, or until its newest sample if that is earlier.
 * Returns false if there was neither time to account nor a gap. If begin_ns of the samples is 0,
 * the first call only determines where the member's time starts. */
bool fleet_amounts(const struct fleet_samples *samples, struct fleet_member *member,
                   int64_t until_ns, int64_t gap_ns, struct fleet_amounts *ret);

/* Returns the end of an interval that starts at begin_ns and should end at wanted_ns. If the period
 * of scrapes has become longer, wanted_ns may be before the start. So the interval is at least
 * `least_ns` long, and never empty. */
uint64_t fleet_interval_end(uint64_t begin_ns, uint64_t wanted_ns, int64_t least_ns);

/* Rounds to whole ns. Returns 0 if `ns` is negative, not a number, or too large. */
uint64_t fleet_ns(double ns);

/* Returns values[columns + FLEET_EXTRA_COUNT] of the sample whose time differs from time_ns by at
 * most 1 ms. Returns NULL if there is no such sample. Drops earlier samples. */
const double *fleet_sample_at(const struct fleet_samples *samples, struct fleet_member *member,
                              int64_t time_ns);
