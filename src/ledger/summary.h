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

/* The CPUs that the entities of a frame share. */
struct shared_cpus {
    size_t count;       /* 0 if it is unknown */
    bool has_load;      /* the load of each CPU is known, and so is `full` */
    size_t full;        /* how many of them were busy for at least 95 % of the interval */
    int64_t first_full; /* the number of the first of these */
    bool has_others;    /* other entities share them, so the rows do not say how busy they are */
};

/* Returns the CPUs that the rows of `frame` share. They are in `beside`, a frame of CPUs, or in
 * `frame` itself if it has CPUs. Without both, or if they are empty, `count` is
 * `count_if_unknown`. */
struct shared_cpus shared_cpus_of(const struct frame *beside, const struct frame *frame,
                                  size_t count_if_unknown);

struct summary {
    const char *noun; /* the plural of the entities: "threads", "CPUs" */
    struct shared_cpus cpus;
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
    bool unseen_are_unknown;  /* losses.unseen is not counted */
    /* The names with the most time in the class `lead`, each at least a tenth of it: the one with
     * the most time first. Names that differ only in their final numbers are one, without the
     * number. */
    enum column_class lead;
    size_t name_count;
    char names[SUMMARY_NAMES][CAMP_NAME_SIZE];
    /* CLASS_CPU if `lead` is a wait, or the wait if it is CLASS_CPU, and the name with the most
     * time there; "" if the name is one of `names`, or if the time is small. */
    enum column_class other;
    char other_name[CAMP_NAME_SIZE];
};

/* Returns the length of a name without the number at its end: 3 for "web12" and "web:1", and the
 * whole length for a name that is a number. */
size_t name_stem(const char *name);

/* Fills *ret from a frame of single entities, whose plural is `noun`. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int summary_fill(struct summary *ret, const struct frame *frame, struct shared_cpus cpus,
                 const char *noun);

/* Fills *ret from rows[count] of a frame without states, whose column `column` has their CPU time
 * in ns. The caller may set the CPUs and the losses. Returns CAMP_OK or CAMP_E_NOMEM. */
int summary_fill_cpu_time(struct summary *ret, const struct frame *frame, const size_t *rows,
                          size_t count, size_t column);

/* Returns whether the rows are CPUs. A CPU does not wait for one: its time in CLASS_READY was
 * stolen by a hypervisor. The sentence does not name CPUs. */
bool summary_of_cpus(const struct summary *summary);

/* Returns whether the rows are sums of threads whose parked time is not known: camp export adds up
 * the threads of a group. Then waits in a lock may be waits for work. */
bool summary_may_be_parked(const struct summary *summary);

/* Returns the class of waits with the most time; if two are equal, the first. CLASS_CONTENTION is
 * left out if the rows may be parked, and CLASS_OTHER_WAIT if the load of the CPUs is known. */
enum column_class summary_wait(const struct summary *summary);

/* Returns the share of the CPUs' time that was used, from 0 to 1; 0 if the CPUs are unknown. */
double summary_busy(const struct summary *summary);

/* Returns whether time is missing or accounted twice, more than 0.5 % of all elapsed time. */
bool summary_is_missing(const struct summary *summary);
bool summary_is_over(const struct summary *summary);
