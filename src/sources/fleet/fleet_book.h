/*
 * Counters of many, each scraped at times of its own, as amounts of common intervals. Arithmetic.
 *
 * A member (a host, a group) has samples: at a time, cumulative seconds by column, and beside them
 * how many CPUs it has and its own clock. Between two samples each counter grows evenly: that is
 * all that is known. So an interval may begin and end anywhere between samples, all members have
 * the same one, and what two samples differ by is booked once, to the nanosecond, whichever
 * intervals it falls into. (increase() of PromQL extrapolates to the window's ends, and its results
 * of two windows that meet do not add up.)
 *
 * - A counter that went back began anew at 0 in between (the exporter was started again): it
 *   has what it shows. What it counted before is in no state, and the sum rule shows it.
 * - A counter without a sample before has nothing yet.
 * - Between samples further apart than `gap_ns` nobody looked: nothing is booked.
 */
#ifndef CAMP_SOURCES_FLEET_FLEET_BOOK_H
#define CAMP_SOURCES_FLEET_FLEET_BOOK_H

#include "ledger/frame.h"

/* What every sample has beside the columns, at their end. */
enum fleet_extra { FLEET_CPUS, FLEET_CLOCK, FLEET_EXTRA_COUNT };

struct fleet_member {
    struct entity entity; /* id: 1 + its number */
    char *key;            /* what tells it from all others; the book's */
    int64_t *times_ns;    /* [count], ascending, since 1970 */
    double *values;       /* [count x (columns + FLEET_EXTRA_COUNT)]; NAN: not there */
    size_t count, capacity;
    int64_t booked_ns; /* until then all is booked; 0: nothing is */
    int64_t period_ns; /* usually so long between two samples; 0: not known */
    int64_t late_ns;   /* its samples are there so much later than expected. The caller's */
    int64_t now_ns;    /* time of the sample that comes with this answer; 0: none. The caller's */
    bool is_down;      /* up == 0. The caller's */
    bool is_silent;    /* nothing was booked of it in the last interval. The caller's */
};

struct fleet_book {
    struct fleet_member **members; /* [count], in the order in which they were met */
    size_t count, capacity, columns;
    int64_t begin_ns;          /* who is new is booked from then on; 0: from the first call on */
    void *by_key;              /* tsearch(3) */
    struct fleet_member *last; /* that was found: series of one come together */
    int64_t ids;
};

/* What is booked of a member in an interval. */
struct fleet_amounts {
    uint64_t elapsed_ns; /* its own clock's (else the samples') time, of all its CPUs */
    uint64_t *values;    /* [columns] ns; the caller's array */
    bool is_partial;     /* a counter began anew, or nobody looked for a while */
};

void fleet_book_init(struct fleet_book *ret, size_t columns);
void fleet_book_release(struct fleet_book *book);

/* Who has this key; somebody new is all zero but for key and id. NULL: no memory. */
struct fleet_member *fleet_book_find(struct fleet_book *book, const char *key);

/* Whose newest sample is before `since_ns` is forgotten. */
void fleet_book_forget(struct fleet_book *book, int64_t since_ns);

/* A number of the sample at time_ns: column below columns + FLEET_EXTRA_COUNT. `add`: to what is
 * there (several series are one column). Times before what is booked are passed over. CAMP_OK or
 * CAMP_E_NOMEM. */
int fleet_take(const struct fleet_book *book, struct fleet_member *member, int64_t time_ns,
               size_t column, double value, bool add);

/* 0: it has no sample. */
int64_t fleet_newest(const struct fleet_member *member);

/* Its period by its last samples. `snapshot_ns`: so often it is looked at; where that is seldom,
 * samples in between are not seen, and a period is never taken for a longer one. */
void fleet_learn_period(struct fleet_member *member, int64_t snapshot_ns);

/* Books until `until_ns`, or its newest sample when that is before. False: no time has passed. The
 * first call only sets where to begin. */
bool fleet_amounts(const struct fleet_book *book, struct fleet_member *member, int64_t until_ns,
                   int64_t gap_ns, struct fleet_amounts *ret);

/* The end of an interval that begins at begin_ns and should end at wanted_ns. That may be before
 * its beginning, where scrapes have become rarer and more time is left for them: it is at least
 * `least_ns` long, and 1 ns. */
uint64_t fleet_interval_end(uint64_t begin_ns, uint64_t wanted_ns, int64_t least_ns);

/* Rounded; 0 of what is negative, not a number or beyond all time. */
uint64_t fleet_ns(double ns);

/* values[columns + FLEET_EXTRA_COUNT] of the sample at time_ns, to the ms, and those before it are
 * dropped. NULL: there is none. */
const double *fleet_sample_at(const struct fleet_book *book, struct fleet_member *member,
                              int64_t time_ns);

#endif
