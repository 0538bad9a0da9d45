/*
 * The errors of sampled CPU time for each interval, which the papers show as plots. They are
 * computed from frames of the source "tasks", live or recorded.
 */
#pragma once

#include "accuracy.h"
#include "frame.h"
#include "inverse_fit.h"

/* Indexes of the columns of a "tasks" schema. The columns of sampled time are SIZE_MAX if the
 * source cannot read sampled time. */
struct tasks_columns {
    size_t measured, sampled, absolute, active, maximum, stray;
};

/* Finds the columns by name. Returns false if the schema is not "tasks", or has no column of
 * measured time. */
bool tasks_columns_find(struct tasks_columns *ret, const struct schema *schema);

/* Returns the sums that one row of a frame contains, in ns. */
struct accuracy tasks_columns_accuracy(const struct tasks_columns *columns, const uint64_t *values);

/* The CPU time of all processes in one interval, in percent of one CPU as in `camp check`. NAN
 * means unknown. */
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

/* Adds an interval. `is_sampled` says whether the sampled time is known. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int error_series_add(struct error_series *series, int64_t end_ns, uint64_t length_ns,
                     const struct accuracy *accuracy, bool is_sampled);

/* Adds the interval of a frame, with all its processes. Returns CAMP_OK, CAMP_E_NOMEM, or
 * CAMP_E_INVALID if it is not a frame of "tasks". */
int error_series_add_frame(struct error_series *series, const struct frame *frame);

/* Writes to ret[series->count] one point for each interval whose error is known. A point has the
 * measured CPU time as its load and the absolute error as its error. Returns the number of
 * points. */
size_t error_series_points(const struct error_series *series, struct inverse_point *ret);
