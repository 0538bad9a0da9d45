/* Reads a table: its columns from the first rows, then all rows. */
#pragma once

#include "table_rows.h"

/* Fills *columns and *table, which are all zero, from `rows`. `name` is the table's. The caller
 * releases both, also after a failure. CAMP_E_FORMAT: it is no table; otherwise as rows->next(). */
int table_read(struct table_columns *columns, struct table_rows *table, struct rows *rows,
               const char *name, struct camp_error *error);
