/*
 * The errors of sampled CPU time for each interval: the data of the papers' plots. It is computed
 * from frames of the source "tasks", live or recorded. Pure arithmetic.
 */
#pragma once

#include "accuracy.h"
#include "frame.h"
#include "inverse_fit.h"

/* Where a schema has the columns of "tasks"; those of sampled time are SIZE_MAX where the tier
 * cannot read it. */
struct tasks_columns {
    size_t measured, sampled, absolute, active, maximum, stray;
};

/* Finds the columns by name. False: the schema is not of processes whose time is measured and
 * sampled. */
bool tasks_columns_find(struct tasks_columns *ret, const struct schema *schema);

/* The sums of one row's values, in ns. */
struct accuracy tasks_columns_accuracy(const struct tasks_columns *columns, const uint64_t *values);

/* One interval. CPU time of processes is in percent of one CPU, as in `camp check`; NAN: unknown.
 */
struct error_interval {
    int64_t end_ns; /* wall clock, since 1970 */
    uint64_t length_ns;
    double measured, sampled;
    double error, absolute, maximum; /* those of accuracy.h, in percent */
};

/* All zero is an empty series. */
struct error_series {
    struct error_interval *intervals; /* [count], owned: error_series_release() */
    size_t count, capacity;
};

void error_series_release(struct error_series *series);

/* Adds an interval. `is_sampled`: the sampled time is known. CAMP_OK or CAMP_E_NOMEM. */
int error_series_add(struct error_series *series, int64_t end_ns, uint64_t length_ns,
                     const struct accuracy *accuracy, bool is_sampled);

/* Adds the interval of a frame, with all its processes. CAMP_E_INVALID: not a frame of "tasks". */
int error_series_add_frame(struct error_series *series, const struct frame *frame);

/* Writes one point for each interval with an error, its absolute error over measured CPU time, to
 * ret[series->count]. Returns the number of points. */
size_t error_series_points(const struct error_series *series, struct inverse_point *ret);
