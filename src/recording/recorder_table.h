/* One table of a recording while it is written: what a source's frames, or those beside, go to. */
#pragma once

#include "format.h"
#include "ledger/registry.h"

#include <sqlite3.h>

/* What was last written of an entity. */
struct recorder_tracked {
    uint32_t number; /* in the file; 0: none yet */
    uint32_t count;
    uint64_t met; /* in which of the registry's frames */
    struct rest rest;
    const struct labels *labels; /* under this number */
    bool kernel;
    bool stale; /* what the file says of who it is may be of another */
};

/* A row to write: the number of its entity, and where it is in the frame. */
struct recorder_row {
    uint32_t number, tracked;
    size_t row; /* SIZE_MAX: of one that is gone */
    uint32_t flags;
    const uint64_t *values; /* of the frame; NULL: of one that is gone */
    bool has_seldom;        /* a value in one of the seldom columns that is not as usual */
};

/* What one of the two tables is filled from: the rows of recorder_table.list. */
struct recorder_feed {
    const struct recorder_table *table;
    bool seldom;
    size_t *columns; /* of the frame, in the order of the table's; owned */
    size_t count;    /* of all columns, with tick, entity and (not of seldom ones) flags */
    sqlite3_stmt *insert;
};

extern const sqlite3_module recorder_feed_module; /* its context: a struct recorder_feed */

struct recorder_table {
    const struct schema *schema;
    char *name, **column_names; /* in SQL: unlike each other, in capitals or not; owned */
    bool *seldom;               /* [columns] recording_plan() */
    size_t columns;             /* the schema's, and RECORDING_EXTRA_COUNT */
    size_t *gauges, gauge_count;
    struct recorder_feed rows, seldom_rows;
    sqlite3_stmt *tick, *identity;
    sqlite3_stmt *label;       /* NULL: the schema has no labels */
    int64_t tick_number;       /* of the interval that is written */
    const struct frame *frame; /* likewise */
    struct registry registry;
    struct recorder_tracked *tracked; /* [tracked_capacity] by the registry's numbers */
    uint64_t *last_gauges;            /* [tracked_capacity x gauge_count] as last written */
    size_t tracked_capacity;
    struct recorder_row *list; /* of this interval */
    size_t list_count, list_capacity;
    bool wants_key; /* the next interval writes all rows */
};

/* Makes the tables and views of a schema, with `tick_name` the table of its intervals. `frame`: its
 * first. CAMP_E_IO: ask SQLite. */
int recorder_table_create(struct recorder_table *table, sqlite3 *database, const char *tick_name,
                          const struct frame *frame);

/* Writes a frame. *number is the last number given to an entity of the file. */
int recorder_table_write(struct recorder_table *table, int64_t tick, bool key,
                         const struct frame *frame, uint32_t *number, uint64_t *ret_written);

/* The labels of an entity, but those that are as `before`. */
int recorder_labels_write(struct recorder_table *table, int64_t tick, uint32_t number,
                          const struct labels *before, const struct labels *now);

/* The view `entity`, with a column for each label of tables[count]. */
int recorder_entity_view(const struct recorder_table *tables, size_t count, sqlite3 *database);

/* What it knows of the file is void: a transaction was undone. */
void recorder_table_forget(struct recorder_table *table);

/* Statements, and all it owns. */
void recorder_table_release(struct recorder_table *table);
