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
 *  - A counter that went back restarted at 0 in between (a restarted exporter): its growth is its
 *    value. What it counted before the restart is in no state, and the sum rule shows it.
 *  - A counter has no growth before its second sample.
 *  - Between samples further apart than `gap_ns` nothing is accounted.
 */
#pragma once

#include "ledger/frame.h"

/* What every sample has after its columns. */
enum fleet_extra { FLEET_CPUS, FLEET_CLOCK, FLEET_EXTRA_COUNT };

struct fleet_member {
    struct entity entity; /* id: 1 + its position */
    char *key;            /* identifies the member; owned */
    int64_t *times_ns;    /* [count], ascending, since 1970 */
    double *values;       /* [count x (columns + FLEET_EXTRA_COUNT)]; NAN: missing */
    size_t count, capacity;
    int64_t accounted_ns; /* all time until then is accounted; 0: none is */
    int64_t period_ns;    /* usual time between two samples; 0: unknown */
    int64_t late_ns;      /* how much later than expected its samples arrive. Set by the caller */
    int64_t now_ns;       /* time of its sample in the current answer; 0: none. Set by the caller */
    bool is_down;         /* up == 0. Set by the caller */
    bool is_silent;       /* the last interval has no time of it. Set by the caller */
};

struct fleet_samples {
    struct fleet_member **members; /* [count], in the order they were first seen */
    size_t count, capacity, columns;
    int64_t begin_ns; /* a new member is accounted from then on; 0: from its first sample on */
    void *by_key;     /* tsearch(3) */
    struct fleet_member *last; /* cache of the last find: the series of a member are adjacent */
    int64_t ids;
};

/* The time of a member in an interval. */
struct fleet_amounts {
    uint64_t elapsed_ns; /* by its own clock (otherwise the samples'), of all its CPUs */
    uint64_t *values;    /* [columns] ns; the caller's array */
    bool is_partial;     /* a counter restarted, or there was a gap */
};

void fleet_samples_init(struct fleet_samples *ret, size_t columns);
void fleet_samples_release(struct fleet_samples *samples);

/* Finds the member with this key, or adds one that is all zero but for key and id. NULL: no
 * memory. */
struct fleet_member *fleet_samples_find(struct fleet_samples *samples, const char *key);

/* Removes members whose newest sample is before `since_ns`. */
void fleet_samples_forget(struct fleet_samples *samples, int64_t since_ns);

/* Adds a number to the sample at time_ns, in a column below columns + FLEET_EXTRA_COUNT. `add`: to
 * the value that is there (several series form one column). Times already accounted are ignored.
 * CAMP_OK or CAMP_E_NOMEM. */
int fleet_samples_add(const struct fleet_samples *samples, struct fleet_member *member,
                      int64_t time_ns, size_t column, double value, bool add);

/* 0: it has no sample. */
int64_t fleet_newest(const struct fleet_member *member);

/* Updates the member's period from its last samples. `snapshot_ns` is the time between two
 * snapshots: long ones miss samples in between, so they never make the period longer. */
void fleet_update_period(struct fleet_member *member, int64_t snapshot_ns);

/* Accounts until `until_ns`, or until its newest sample if that is earlier. False: no time has
 * passed. The first call only sets the start. */
bool fleet_amounts(const struct fleet_samples *samples, struct fleet_member *member,
                   int64_t until_ns, int64_t gap_ns, struct fleet_amounts *ret);

/* The end of an interval that starts at begin_ns and should end at wanted_ns. wanted_ns may be
 * before the start if scrapes have become rarer: the interval is at least `least_ns` long, and 1
 * ns. */
uint64_t fleet_interval_end(uint64_t begin_ns, uint64_t wanted_ns, int64_t least_ns);

/* Rounded; 0 if negative, not a number, or too large. */
uint64_t fleet_ns(double ns);

/* values[columns + FLEET_EXTRA_COUNT] of the sample at time_ns, to the ms; drops earlier samples.
 * NULL: there is none. */
const double *fleet_sample_at(const struct fleet_samples *samples, struct fleet_member *member,
                              int64_t time_ns);
