/*
 * The rows of a comparison: one for each entity and each state that both recordings have. A row is
 * the time of the entity in the state, per second of wall time, in both recordings, and the
 * difference.
 *
 * Only rows whose difference could be of interest are compared: those with at least the smallest
 * difference of interest in the two recordings together. The others need no correction for chance
 * findings, because they cannot give one.
 */
#pragma once

#include "compare_side.h"
#include "ledger/comparison/difference.h"

struct compared_state {
    char name[64];           /* "run_queue"; "unaccounted" for time in no state */
    size_t columns[2];       /* its index in the schema of each recording */
    enum column_class class; /* CLASS_NONE for unaccounted time */
};

struct compared_value {
    struct ratio ratios[2];
    struct difference difference;
};

struct compared_row {
    size_t entity, state;       /* indexes in `entities` and `states` */
    struct compared_value rate; /* time in the state, per wall time: 1 is one thread all the time */
    /* Time in the state, per time of the entity itself. Unknown if only one recording has the
     * entity. */
    struct compared_value share;
    enum difference_verdict verdict; /* of `rate` */
    size_t causes_found;             /* how many of its causes differ (compare_causes.h) */
};

/* An all-zero comparison is empty. comparison_release() frees the members. */
struct comparison {
    const struct compared_entities *entities; /* NULL: the rows are of causes */
    struct compared_state *states;            /* [state_count] */
    size_t state_count;
    /* [count], those with a difference first, then those that are not idle, then by the size of the
     * difference */
    struct compared_row *rows;
    size_t count, capacity;
    size_t more, less; /* how many rows have this verdict */
    /* The number of comparisons of the same recordings, among which the risk of a false verdict is
     * divided: 2 if their causes are also compared. 0 counts as 1. */
    size_t families;
    /* For causes: [entity count] of each recording, the time of the cause's state that has no
     * cause, per wall time. It may belong to any cause, so the intervals are wider by it. NULL for
     * states, which have all of their time. */
    double *undivided[2];
    /* [entity_count] of each recording, the entity's own time per wall time in the interval in
     * which it was largest: a state or a cause can have no more. */
    double *most[2];
};

/* Sets comparison->states to the states that both schemas have, and unaccounted time. Returns
 * CAMP_OK or CAMP_E_NOMEM. */
int comparison_match_states(struct comparison *comparison, const struct compare_side sides[2]);

/* Fills the rows of comparison->states from the timelines of both recordings, whose entities have
 * the ids COMPARE_ID to COMPARE_ID + entity_count - 1, and COMPARE_CLOCK. `least` is the smallest
 * difference of interest, 0 or more; `seed` the start of the random numbers. Returns CAMP_OK or
 * CAMP_E_NOMEM. Returns early, with rows that are not compared, if a stop is requested. */
int comparison_fill(struct comparison *comparison, const struct timeline *const timelines[2],
                    size_t entity_count, double least, uint64_t seed);

/* Sorts the rows: see `rows`. A row of which a cause differs comes before those without a
 * difference. Returns CAMP_OK or CAMP_E_NOMEM. */
int comparison_sort(struct comparison *comparison);

/* Fills ret[entity_count x state_count], which must be zero, with the time of each entity in each
 * state, per wall time, in the timeline of one recording. */
void comparison_rates(const struct comparison *comparison, int side,
                      const struct timeline *timeline, size_t entity_count, double *ret);

/* Sets *ret to a list of `most` (struct comparison) from the timeline of a recording, which the
 * caller frees. Returns CAMP_OK or CAMP_E_NOMEM. */
int comparison_find_most(const struct timeline *timeline, size_t entity_count, double **ret);

void comparison_release(struct comparison *comparison);

/* Returns whether the state of a row is idle: nothing to do, or stopped. */
bool comparison_is_idle(const struct comparison *comparison, const struct compared_row *row);

/* Returns the index of the state of this name, or state_count. */
size_t comparison_find_state(const struct comparison *comparison, const char *name);
