/*
 * Counters of many members, each scraped at its own times, converted to amounts of common
 * intervals. Pure arithmetic.
 *
 * A member (a host, a group) has samples: at a time, cumulative seconds by column, and with them
 * its number of CPUs and its own clock. A counter is assumed to grow evenly between two samples:
 * nothing more is known. So an interval may start and end anywhere between samples, all members
 * have the same intervals, and the difference of two samples is accounted once, to the nanosecond,
 * whatever intervals it falls into. (PromQL's increase() extrapolates to the ends of its window, so
 * the results of two adjacent windows do not add up.)
 *
 *  - A counter that decreased restarted at 0 in between (a restarted exporter): its growth is its
 *    new value. Its growth before the restart is in no state, and shows as unaccounted time.
 *  - A counter has no growth before its second sample.
 *  - Between samples further apart than `gap_ns` nothing is accounted.
 */
#pragma once

#include "ledger/frame.h"

/* The values that every sample has after its columns. */
enum fleet_extra { FLEET_CPUS, FLEET_CLOCK, FLEET_EXTRA_COUNT };

struct fleet_member {
    struct entity entity; /* id: 1, 2, ... in the order they were first seen; never reused */
    char *key;            /* identifies the member; owned */
    int64_t *times_ns;    /* [count], ascending, since 1970 */
    double *values;       /* [count x (columns + FLEET_EXTRA_COUNT)]; NAN: missing */
    size_t count, capacity;
    int64_t accounted_ns; /* all time before it is accounted; 0: none is */
    int64_t period_ns;    /* usual time between two samples; 0: unknown */
    int64_t late_ns;      /* how much later than expected samples arrive. Set by the caller */
    int64_t now_ns;       /* time of the sample in the current answer; 0: none. Set by the caller */
    bool is_down;         /* the metric "up" is 0. Set by the caller */
    bool is_silent;       /* the last interval has no time of this member. Set by the caller */
};

struct fleet_samples {
    struct fleet_member **members; /* [count], in the order they were first seen */
    size_t count, capacity, columns;
    int64_t begin_ns; /* where the first interval of a new member starts; 0: at its first sample */
    void *by_key;     /* tsearch(3) */
    struct fleet_member *last; /* cache of the last find: the series of a member are adjacent */
    int64_t ids;
};

/* The time of a member in an interval. */
struct fleet_amounts {
    uint64_t elapsed_ns; /* summed over all its CPUs; by its own clock, or without one by the times
                          * of the samples */
    uint64_t *values;    /* [columns] ns; the caller's array */
    bool is_partial;     /* a counter restarted, or there was a gap */
};

void fleet_samples_init(struct fleet_samples *ret, size_t columns);
void fleet_samples_release(struct fleet_samples *samples);

/* Finds the member with this key, or adds one in which only key and id are set. NULL: no memory. */
struct fleet_member *fleet_samples_find(struct fleet_samples *samples, const char *key);

/* Removes members whose newest sample is before `since_ns`. */
void fleet_samples_forget(struct fleet_samples *samples, int64_t since_ns);

/* Sets a value of the sample at time_ns, in a column below columns + FLEET_EXTRA_COUNT. With `add`,
 * the number is added to the value there (several series form one column). A sample at a time
 * already accounted is ignored. CAMP_OK or CAMP_E_NOMEM. */
int fleet_samples_add(const struct fleet_samples *samples, struct fleet_member *member,
                      int64_t time_ns, size_t column, double value, bool add);

/* The time of the member's newest sample; 0: it has no sample. */
int64_t fleet_newest(const struct fleet_member *member);

/* Updates the member's period from its last samples. `snapshot_ns` is the time between two
 * snapshots: a long time misses samples in between, so it never makes the period longer. */
void fleet_update_period(struct fleet_member *member, int64_t snapshot_ns);

/* Accounts the member's time until `until_ns`, or until its newest sample if that is earlier.
 * False: there was no time to account. The first call only sets the start. */
bool fleet_amounts(const struct fleet_samples *samples, struct fleet_member *member,
                   int64_t until_ns, int64_t gap_ns, struct fleet_amounts *ret);

/* The end of an interval that starts at begin_ns and should end at wanted_ns. wanted_ns may be
 * before the start if scrapes have become rarer: the interval is at least `least_ns` long, and
 * never empty. */
uint64_t fleet_interval_end(uint64_t begin_ns, uint64_t wanted_ns, int64_t least_ns);

/* Rounds to whole ns; 0 if `ns` is negative, not a number, or too large. */
uint64_t fleet_ns(double ns);

/* Returns values[columns + FLEET_EXTRA_COUNT] of the sample whose time is time_ns, rounded to ms;
 * drops earlier samples. NULL: there is no such sample. */
const double *fleet_sample_at(const struct fleet_samples *samples, struct fleet_member *member,
                              int64_t time_ns);
