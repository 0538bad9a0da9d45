/*
 * An interval in a few numbers: the time of all entities by class, the time that does not add up,
 * and the most active names. views/summary_text.h makes sentences of them.
 *
 * Times are in entity-seconds a second: 2.5 in CLASS_READY means that on average 2.5 entities
 * waited for a CPU.
 */
#pragma once

#include "frame.h"

#define SUMMARY_NAMES 2

struct summary {
    size_t cpus;           /* number of CPUs that the entities share; 0 if it is unknown */
    bool has[CLASS_COUNT]; /* the source has states of this class */
    double classes[CLASS_COUNT];
    double missing, over; /* time in no state, time that is accounted twice */
    double elapsed;       /* wall time of all entities */
    double active;        /* sum of `classes` without CLASS_IDLE */
    size_t entities;
    size_t parked;      /* entities that almost only wait in futex(2), for a lock or for work */
    bool only_cpu_time; /* other states are unknown, so nobody knows what is unaccounted */
    struct losses losses;
    bool unseen_are_switches; /* losses.unseen counts context switches */
    /* The names that have the most active time, each at least a tenth of it: the most active first.
     * Names that differ only in their final numbers are one, without the number. */
    size_t name_count;
    char names[SUMMARY_NAMES][CAMP_NAME_SIZE];
};

/* Returns the length of a name without the number at its end: 3 for "web12" and "web:1", and the
 * whole length for a name that is a number. */
size_t name_stem(const char *name);

/* Fills *ret from a frame of single entities. Returns CAMP_OK or CAMP_E_NOMEM. */
int summary_fill(struct summary *ret, const struct frame *frame, size_t cpus);

/* Fills *ret from rows[count] of a frame without states, whose column `column` has their CPU time
 * in ns. The caller may set the CPUs and the losses. Returns CAMP_OK or CAMP_E_NOMEM. */
int summary_fill_cpu_time(struct summary *ret, const struct frame *frame, const size_t *rows,
                          size_t count, size_t column);

/* Returns the share of the CPUs' time that was used, from 0 to 1; 0 if the CPUs are unknown. */
double summary_busy(const struct summary *summary);

/* Returns whether time is missing or accounted twice, more than 0.5 % of all elapsed time. */
bool summary_is_missing(const struct summary *summary);
bool summary_is_over(const struct summary *summary);
