/*
 * From the numbers of a table's rows to times: their order, the length of intervals, the unit of
 * the values. Pure arithmetic.
 */
#ifndef CAMP_SOURCES_TABLES_TABLE_TIMES_H
#define CAMP_SOURCES_TABLES_TABLE_TIMES_H

#include "table_rows.h"

struct table_times {
    uint32_t *order;      /* [rows' count] by time, otherwise as read; owned: free(3) */
    uint64_t interval_ns; /* usual, between frames */
    uint64_t spacing_ns;  /* usual, between two rows of an entity */
    enum unit unit;       /* of values whose column does not say it; UNIT_NONE: each says it */
    bool is_guessed;      /* that unit */
    double sum;           /* of the median row's values in it, where it is guessed */
};

/* Turns the values and elapsed times of `rows` into ns; times of a plain form are stretched to the
 * column of elapsed times. Rows that are passed over have an elapsed time of 0 then. `wanted`: the
 * unit that was asked for, or UNIT_NONE. CAMP_OK or CAMP_E_NOMEM. */
int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted);

#endif
