/* The units of a table's values and elapsed times, if no name says them. */
#pragma once

#include "table_times.h"

/* Fills unit, is_guessed and sum of *times, whose gaps are known (0: there are none), and sets
 * missing gaps: the usual elapsed time, or 1 s. Times of a plain form are stretched to the elapsed
 * times. *ret_elapsed: the unit of their column. CAMP_OK or CAMP_E_NOMEM. */
int table_units_find(struct table_times *times, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted, enum unit *ret_elapsed);
