/* One table of a recording while it is written: for a source's frames, or for the frames beside
 * them. */
#pragma once

#include "format.h"
#include "ledger/registry.h"

#include <sqlite3.h>

/* An entity as last written. */
struct recorder_tracked {
    uint32_t number; /* in the file; 0: it has none yet */
    uint32_t count;
    uint64_t last_seen; /* number of the registry's frame that last had the entity */
    struct idle_row idle;
    const struct labels *labels; /* as written under this number */
    bool kernel;
    bool stale; /* the identity in the file may be that of another entity */
};

/* A row to write. */
struct recorder_row {
    uint32_t number;  /* of the row's entity */
    uint32_t tracked; /* index */
    size_t row;       /* row of the frame; SIZE_MAX: the entity is gone */
    uint32_t flags;
};

/* What fills one of the two tables: the rows of recorder_table.list. */
struct recorder_feed {
    const struct recorder_table *table;
    bool seldom;
    size_t *columns; /* indices of the frame's columns, in the order of the table; owned */
    size_t count;    /* number of all columns of the table, with tick, entity and (not in the second
                      * table) flags */
    sqlite3_stmt *insert;
};

extern const sqlite3_module recorder_feed_module; /* its context is a struct recorder_feed */

struct recorder_table {
    const struct schema *schema;
    char *name, **column_names; /* as in SQL: unique, regardless of case; owned */
    bool *seldom;               /* [columns] as selected by recording_plan() */
    size_t columns;             /* number of the schema's columns, plus RECORDING_EXTRA_COUNT */
    size_t *gauges, gauge_count;
    struct recorder_feed rows, seldom_rows;
    sqlite3_stmt *tick, *identity;
    sqlite3_stmt *label;       /* NULL: the schema has no labels */
    int64_t tick_number;       /* tick of the interval that is written */
    const struct frame *frame; /* frame of that interval */
    struct registry registry;
    struct recorder_tracked *tracked; /* [tracked_capacity] by the registry's numbers */
    uint64_t *last_gauges;            /* [tracked_capacity x gauge_count] as last written */
    size_t tracked_capacity;
    struct recorder_row *list; /* of this interval */
    size_t list_count, list_capacity;
    bool wants_key; /* the next interval is a key */
};

/* Creates the tables and views of a schema, whose intervals are in the table `tick_name`. `frame`
 * is the first one. CAMP_E_IO: SQLite has the reason. */
int recorder_table_create(struct recorder_table *table, sqlite3 *database, const char *tick_name,
                          const struct frame *frame);

/* Writes a frame. *number is the last number given to an entity of the file. */
int recorder_table_write(struct recorder_table *table, int64_t tick, bool key,
                         const struct frame *frame, uint32_t *number, uint64_t *ret_written);

/* Creates the view `entity`, with a column for each label of tables[count]. */
int recorder_entity_view(const struct recorder_table *tables, size_t count, sqlite3 *database);

/* Forgets what was written to the file, because a transaction was rolled back. */
void recorder_table_forget(struct recorder_table *table);

/* Releases the table's statements and its memory. */
void recorder_table_release(struct recorder_table *table);
