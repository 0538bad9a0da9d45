/*
 * Chooses the use of each column of a table by its name and its first fields.
 *
 * Time: the column named time, timestamp, datetime, date, ts, snap_time, ... snap_id, sample or
 * tick, in this order of preference; otherwise the first column.
 *
 * Entity: all columns named entity, session, sid, pid, host, ..., and columns of text named cpu,
 * core or user; otherwise the first column of text. A column of numbers named cpu, core or user is
 * part of the entity if several rows of one time have the same entity without it; otherwise it is a
 * state. The texts of several columns are joined.
 *
 * Elapsed time of the row: the column named elapsed, wall or duration.
 *
 * States: the other columns of numbers, in their order.
 *
 * Ignored: other columns of text, further columns of times, and names that end in _count or _bytes.
 *
 * Names are compared in lower case; any sequence of characters other than letters and digits counts
 * as "_". A unit at the end of a name ("_ms", see unit_of_name()), or a "%" anywhere in it, is the
 * unit of the column and not part of the name.
 */
#pragma once

#include "ledger/frame.h"
#include "rows.h"
#include "sources/field.h"

#define TABLE_NAME_SIZE 64

enum table_use { USE_IGNORED, USE_TIME, USE_ENTITY, USE_ELAPSED, USE_STATE };

struct table_column {
    enum table_use use;
    enum unit unit;              /* from the name of the column, or UNIT_NONE */
    char stem[TABLE_NAME_SIZE];  /* such as "db_cpu" */
    char title[TABLE_NAME_SIZE]; /* such as "DB CPU PCT" */
};

struct table_columns {
    struct table_column *columns; /* [count] */
    size_t count, time, entity_count, state_count, ignored_count;
    bool has_elapsed; /* columns[elapsed] has the elapsed times */
    size_t elapsed;
    struct time_form time_form;
};

/* Sets `unit`, `stem` and `title` from the name of a column. `number` names a column without a
 * name. */
void table_column_name(struct table_column *column, struct field name, size_t number);

/* *columns may be all zero. */
void table_columns_release(struct table_columns *columns);

/* Chooses the columns from the header and rows[row_count], the first rows of the table. Each row
 * must have at least as many fields as the header. `name` is the name of the table. Returns
 * CAMP_E_FORMAT if `header` is no header, or there are no states or too many. The caller releases
 * *ret, also after a failure. */
int table_columns_choose(struct table_columns *ret, const char *name, const struct row *header,
                         const struct row *rows, size_t row_count, struct camp_error *error);
