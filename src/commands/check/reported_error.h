/*
 * The error of a database about its own sessions: the time it reports in each state, compared with
 * the measured time of the same sessions in the same interval. Pure arithmetic.
 *
 * Samples of a database show what a session waits for, or no wait, which counts as CPU. They do not
 * show run queues, so the time there is in the other reported states. Errors of different sessions
 * cancel out in a sum, but not in the root mean square (of each session's error in ms per second of
 * its own time, weighted by that time).
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/session_rules.h"

#define REPORTED_UNACCOUNTED SESSION_STATE_COUNT /* index after the states: time in no state */
#define REPORTED_COUNT (SESSION_STATE_COUNT + 1)
#define REPORTED_MAX_STATES 128
#define NOT_REPORTED SIZE_MAX

/* Where a schema has the reported times, and which state each of its columns is. */
struct reported_columns {
    size_t reported[SESSION_STATE_COUNT]; /* column of each state, or NOT_REPORTED */
    size_t sampled; /* time off CPU by samples alone, where states are scaled, or NOT_REPORTED */
    uint8_t state_of[REPORTED_MAX_STATES]; /* [state_count] enum session_state of each state */
    size_t state_count;
};

/* Sums over sessions and intervals. */
struct reported_sum {
    double measured_ns, reported_ns;
    double squares; /* of each session's error in ms per session-second, times its seconds */
};

struct reported_error {
    uint64_t sessions; /* the most in any interval */
    double session_s;  /* sum of their wall times */
    double sampled_ns; /* time off CPU by samples alone; 0 where nothing is scaled */
    struct reported_sum sums[REPORTED_COUNT];
};

/* Finds the columns. False: the schema is not of database sessions, or the database reports nothing
 * of them. */
bool reported_columns_find(struct reported_columns *ret, const struct schema *schema);

/* Adds an interval. */
void reported_error_add(struct reported_error *error, const struct reported_columns *columns,
                        const struct frame *frame);

/* The root mean square error of a state in ms per session-second; NAN without any session time. */
double reported_error_rms(const struct reported_error *error, size_t state);
