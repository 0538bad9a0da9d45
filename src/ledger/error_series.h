/*
 * The errors of sampled CPU time for each interval: the data of the papers' plots. From frames of
 * the source "tasks", live or recorded. Pure arithmetic.
 */
#pragma once

#include "accuracy.h"
#include "frame.h"
#include "inverse_fit.h"

/* Which columns of a schema are those of "tasks"; the sampled ones are SIZE_MAX where the tier
 * could not read them. */
struct tasks_columns {
    size_t measured, sampled, absolute, active, maximum, stray;
};

/* Finds them by name. False: not a schema of processes, measured and sampled. */
bool tasks_columns_find(struct tasks_columns *ret, const struct schema *schema);

/* The sums of one row's values, in ns. */
struct accuracy tasks_columns_accuracy(const struct tasks_columns *columns, const uint64_t *values);

/* NAN: unknown. Processes' CPU time is in percent of one CPU, as in `camp check`. */
struct error_interval {
    int64_t end_ns; /* wall clock, since 1970 */
    uint64_t length_ns;
    double measured, sampled;
    double error, absolute, maximum; /* as accuracy.h, in percent */
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

/* Likewise, of all processes of a frame. CAMP_E_INVALID: not a frame of "tasks". */
int error_series_add_frame(struct error_series *series, const struct frame *frame);

/* The absolute error by measured CPU time: writes the points to ret[series->count] and returns
 * their number; intervals without an error have none. */
size_t error_series_points(const struct error_series *series, struct inverse_point *ret);
