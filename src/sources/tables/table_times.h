/*
 * Converts the numbers of a table's rows to times: their order, the length of intervals, the unit
 * of values. Pure arithmetic.
 */
#pragma once

#include "table_rows.h"

struct table_times {
    uint32_t *order; /* [number of rows] by time, otherwise as read; the caller frees it, also after
                        a failure */
    uint64_t interval_ns;   /* usual time between frames */
    uint64_t spacing_ns;    /* usual time between two rows of an entity */
    enum unit unit;         /* of values without a unit in their column */
    enum unit elapsed_unit; /* of the column of elapsed times, if there is one */
    bool is_guessed;        /* the unit is guessed */
    double sum;             /* of the median row's values in a guessed unit */
};

/* Converts the values and elapsed times of `rows` to ns; times of a plain form are stretched to the
 * column of elapsed times. Skipped rows get an elapsed time of 0. `wanted`: the requested unit, or
 * UNIT_NONE. CAMP_OK or CAMP_E_NOMEM. */
int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted);
