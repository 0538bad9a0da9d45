/*
 * How wrong a database is about its own sessions: what it says of each state beside what was
 * measured of the same sessions in the same interval. Pure arithmetic.
 *
 * A database that is sampled says what a session waits for, or that it waits for nothing, which is
 * taken for "on a CPU". It does not know who waits for a CPU, so the run queue is in its other
 * states. Errors of different sessions cancel out in a sum; in the root of the mean of their
 * squares (each session's error in ms per second of its own time, weighed by that time) they do
 * not.
 */
#ifndef CAMP_LEDGER_TOLD_H
#define CAMP_LEDGER_TOLD_H

#include "frame.h"
#include "session_rules.h"

#define TOLD_UNACCOUNTED SESSION_STATE_COUNT /* behind the states: what is in none of them */
#define TOLD_COUNT (SESSION_STATE_COUNT + 1)
#define TOLD_STATES_MOST 128
#define TOLD_NOWHERE SIZE_MAX

/* Where the columns of a schema stand. */
struct told_columns {
    size_t told[SESSION_STATE_COUNT]; /* columns; TOLD_NOWHERE: it does not say */
    size_t sampled; /* off the CPUs by samples alone, where states are scaled; TOLD_NOWHERE */
    uint8_t state_of[TOLD_STATES_MOST]; /* [state_count]: enum session_state of each state */
    size_t state_count;
};

/* Sums over sessions, and over intervals. */
struct told_sum {
    double measured_ns, told_ns;
    double squares; /* of each session's error in ms per session-second, times its seconds */
};

struct told {
    uint64_t sessions; /* the most of an interval that was added */
    double session_s;  /* sum of their wall times */
    double sampled_ns; /* off the CPUs, by samples alone; 0 where nothing is scaled */
    struct told_sum sums[TOLD_COUNT];
};

/* False: it is no schema of database sessions, or the database tells nothing of them. */
bool told_columns_find(struct told_columns *ret, const struct schema *schema);

/* Adds an interval. */
void told_add(struct told *told, const struct told_columns *columns, const struct frame *frame);

/* In ms per session-second; NAN when there was no time. */
double told_rms(const struct told *told, size_t state);

#endif
