/*
 * Chooses the use of each column of a table by its name and the first rows.
 *
 *  - The time: named time, timestamp, datetime, date, ts, snap_time, ... snap_id, sample, tick, in
 *    this order; otherwise the first column.
 *  - The entity: every column named entity, session, sid, pid, host, ...; otherwise the first of
 *    text. A column of numbers named cpu, core or user is part of the entity if rows of one time
 * are not distinct without it, and a state if they are. The texts of several columns are joined.
 *  - The entity's own time: named elapsed, wall or duration.
 *  - States: the other columns of numbers, in their order.
 *  - Ignored: other text, further times, and names that end in _count or _bytes.
 *
 * Names are compared in lower case, with "_" for anything but letters and digits. A unit at the end
 * ("_ms", see unit_of_name()), or a "%" anywhere, is the column's unit and not part of its name.
 */
#pragma once

#include "ledger/frame.h"
#include "rows.h"
#include "sources/field.h"

#define TABLE_NAME_SIZE 64

enum table_use { USE_IGNORED, USE_TIME, USE_ENTITY, USE_ELAPSED, USE_STATE };

struct table_column {
    enum table_use use;
    enum unit unit;              /* unit in its name, or UNIT_NONE */
    char stem[TABLE_NAME_SIZE];  /* "db_cpu" */
    char title[TABLE_NAME_SIZE]; /* "DB CPU PCT" */
};

struct table_columns {
    struct table_column *columns; /* [count], owned: table_columns_release() */
    size_t count, time, entity_count, state_count, ignored_count;
    bool has_elapsed; /* columns[elapsed] is the column of elapsed times */
    size_t elapsed;
    struct time_form time_form;
};

/* Frees the columns. All zero: there are none. */
void table_columns_release(struct table_columns *columns);

/* Chooses the columns from the header, and from the first rows of the table, rows[row_count], which
 * have at least as many fields. CAMP_E_FORMAT: `header` is no header, or there are no states, or
 * too many. `name` is the name of the table. */
int table_columns_choose(struct table_columns *ret, const char *name, const struct row *header,
                         const struct row *rows, size_t row_count, struct camp_error *error);
