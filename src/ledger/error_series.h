/*
 * The errors of sampled CPU time, interval by interval: what the papers' plots are of. From frames
 * of the source "tasks", live or recorded. Pure arithmetic.
 */
#ifndef CAMP_LEDGER_ERROR_SERIES_H
#define CAMP_LEDGER_ERROR_SERIES_H

#include "accuracy.h"
#include "frame.h"
#include "inverse_fit.h"

/* Where a schema has the columns of "tasks"; those of sampled time are SIZE_MAX where the tier
 * could not read it. */
struct tasks_columns {
    size_t measured, sampled, absolute, active, maximum, stray;
};

/* By their names. False: it is not of processes, measured beside sampled. */
bool tasks_columns_find(struct tasks_columns *ret, const struct schema *schema);

/* Of one row's values: sums in ns. */
struct accuracy tasks_columns_accuracy(const struct tasks_columns *columns, const uint64_t *values);

/* NAN: not known. Processes' CPU time is in percent of one CPU, as `camp check` has it. */
struct error_interval {
    int64_t end_ns; /* wall clock, since 1970 */
    uint64_t length_ns;
    double measured, sampled;
    double error, absolute, maximum; /* as accuracy.h, in percent */
};

/* All zero is an empty one. */
struct error_series {
    struct error_interval *intervals; /* [count], owned: error_series_release() */
    size_t count, capacity;
};

void error_series_release(struct error_series *series);

/* An interval more. `is_sampled`: what was sampled is known. CAMP_OK or CAMP_E_NOMEM. */
int error_series_add(struct error_series *series, int64_t end_ns, uint64_t length_ns,
                     const struct accuracy *accuracy, bool is_sampled);

/* Likewise, of all processes of a frame. CAMP_E_INVALID: it is not one of "tasks". */
int error_series_add_frame(struct error_series *series, const struct frame *frame);

/* The absolute error by measured CPU time, the first points of which are written to
 * ret[series->count]. Returns how many there are: intervals without an error have none. */
size_t error_series_points(const struct error_series *series, struct inverse_point *ret);

#endif
