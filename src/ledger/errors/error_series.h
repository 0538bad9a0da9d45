/*
 * The error of sampled CPU time (accuracy.h) in each interval, for plots. It is computed from
 * frames of the source "tasks", live or recorded.
 */
#pragma once

#include "inverse_fit.h"
#include "ledger/accuracy.h"
#include "ledger/frame.h"

/* Indexes of the columns of a "tasks" schema. Except for `measured`, an index is SIZE_MAX if the
 * schema has no such column. */
struct tasks_columns {
    size_t measured, sampled, absolute, active, maximum, stray;
};

/* Finds the columns by name. Returns false if the schema is not "tasks", or has no column of
 * measured time. */
bool tasks_columns_find(struct tasks_columns *ret, const struct schema *schema);

/* Returns the values of one row as struct accuracy. Times are in ns. */
struct accuracy tasks_columns_accuracy(const struct tasks_columns *columns, const uint64_t *values);

/* The CPU time of all processes in one interval, in percent of the interval's length, and its error
 * in percent of the measured time. NAN means unknown. */
struct error_interval {
    int64_t end_ns; /* wall clock, in ns since 1970 */
    uint64_t length_ns;
    double measured, sampled;
    double error, absolute, maximum;
};

struct error_series {
    struct error_interval *intervals; /* [count]; freed by error_series_release() */
    size_t count, capacity;
};

void error_series_release(struct error_series *series);

/* Adds an interval. `accuracy` has the sums over all processes, with times in ns. If is_sampled is
 * false, the sampled time and the errors are unknown. Returns CAMP_OK or CAMP_E_NOMEM. */
int error_series_add(struct error_series *series, int64_t end_ns, uint64_t length_ns,
                     const struct accuracy *accuracy, bool is_sampled);

/* Adds the interval of a frame. Returns CAMP_OK, CAMP_E_NOMEM, or CAMP_E_INVALID if the source of
 * the frame is not "tasks". */
int error_series_add_frame(struct error_series *series, const struct frame *frame);

/* Fills ret[] with a point for each interval whose error is known. The load of a point is the
 * measured CPU time, and its error is the absolute error. `ret` has space for series->count points.
 * Returns the number of points. */
size_t error_series_points(const struct error_series *series, struct inverse_point *ret);
