/*
 * Compares the time that a database reports for its sessions in each state with the measured time
 * of the same sessions in the same interval.
 *
 * The samples of a database show what a session waits for. A sample without a wait counts as CPU
 * time. Samples do not show run queues, so the time on a run queue is in other reported states.
 *
 * Errors of different sessions cancel out in a sum, but not in the root mean square. The root mean
 * square uses the error of each session in ms per second, weighted by the session's wall time.
 */
#pragma once

#include "ledger/frame.h"
#include "ledger/session_rules.h"

#define REPORTED_UNACCOUNTED SESSION_STATE_COUNT /* index of the time that is in no state */
#define REPORTED_COUNT (SESSION_STATE_COUNT + 1)
#define REPORTED_MAX_STATES 128
#define NOT_REPORTED SIZE_MAX

/* The columns of a schema that have reported times, and the session state of each column. */
struct reported_columns {
    size_t reported[SESSION_STATE_COUNT]; /* the column of each state, or NOT_REPORTED */
    size_t sampled; /* the column of the time off CPU that samples show, or NOT_REPORTED */
    uint8_t state_of[REPORTED_MAX_STATES]; /* [state_count] the enum session_state of each column */
    size_t state_count;
};

/* Sums of one session state over sessions and intervals. */
struct reported_sum {
    double measured_ns, reported_ns;
    double squares; /* sum of e * e * s, for each session with an error of e ms/s over s seconds */
};

struct reported_error {
    uint64_t sessions; /* number of sessions, the maximum of all intervals */
    double session_s;  /* sum of the wall times of all sessions */
    double sampled_ns; /* time off CPU that samples show; 0 if the schema has no such column */
    struct reported_sum sums[REPORTED_COUNT];
};

/* Returns false if the schema is not of database sessions, or if it has no reported times. */
bool reported_columns_find(struct reported_columns *ret, const struct schema *schema);

void reported_error_add(struct reported_error *error, const struct reported_columns *columns,
                        const struct frame *frame);

/* Returns the root mean square error of a state in ms per second of session time. Returns NAN if
 * there was no session time. */
double reported_error_rms(const struct reported_error *error, size_t state);
