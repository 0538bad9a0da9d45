/* Writes one table of a recording: the frames of a source, or the second frames of the source
 * (source_beside()). */
#pragma once

#include "format.h"
#include "ledger/registry.h"

#include <sqlite3.h>

/* What the file already has of an entity. */
struct recorder_tracked {
    uint32_t number; /* number of the entity in the file, or 0 if it has none yet */
    uint32_t count;
    uint64_t last_seen; /* value of registry.frames at the last frame that had the entity */
    struct idle_row idle;
    labels_id labels; /* the entity's labels in the file */
    bool kernel;
    bool stale; /* The next row of the entity must write its identity. */
};

/* What the file had of an entity before the current interval. */
struct recorder_undo {
    uint32_t tracked; /* index in recorder_table.tracked */
    struct recorder_tracked before;
};

struct recorder_row {
    uint32_t number;
    uint32_t tracked; /* index in recorder_table.tracked */
    size_t row;       /* index in the frame; SIZE_MAX if `flags` has RECORDING_GONE */
    uint32_t flags;
};

/* Number of columns before those of the frame: row_number, entity and flags of NAME_rows,
 * row_number of NAME_seldom. */
#define RECORDER_ROWS_FIRST 3
#define RECORDER_SELDOM_FIRST 1

/* Passes the rows of recorder_table.list to SQLite, for NAME_rows or (if `seldom`) NAME_seldom. */
struct recorder_feed {
    const struct recorder_table *table;
    bool seldom;
    size_t *columns; /* indices of the frame's columns, in the order of the SQL table */
    size_t count;    /* number of columns of the SQL table: RECORDER_ROWS_FIRST or
                        RECORDER_SELDOM_FIRST, and those in `columns` */
    sqlite3_stmt *insert;
};

/* The context of the module is a struct recorder_feed. */
extern const sqlite3_module recorder_feed_module;

struct recorder_table {
    const struct schema *schema;
    char *name, **column_names;    /* SQL names, unique without regard to case */
    bool *seldom;                  /* [columns] from recording_plan() */
    struct recording_parts *parts; /* [columns] */
    size_t columns;                /* number of the schema's columns, plus RECORDING_EXTRA_COUNT */
    size_t *gauges, gauge_count;
    struct recorder_feed rows, seldom_rows;
    sqlite3_stmt *tick, *identity;
    sqlite3_stmt *label; /* NULL if the schema has no labels */
    int64_t next_row;    /* the row_number of the first row of the next interval */
    const struct frame *frame;
    struct registry registry;
    struct recorder_tracked *tracked; /* [tracked_capacity] by index of the registry */
    uint64_t *last_gauges; /* [tracked_capacity][gauge_count] gauges in the last written row of each
                              entity */
    size_t tracked_capacity;
    struct recorder_row *list;
    size_t list_count, list_capacity;
    bool wants_key; /* The next interval must be a key interval. */
    /* [undo_count] what the interval undo_tick has changed, for recorder_table_roll_back() */
    struct recorder_undo *undo;
    size_t undo_count, undo_capacity;
    int64_t undo_tick;
    bool undo_wants_key;
};

/* Creates the tables and views of a schema. `tick_name` is the name of the table of intervals, and
 * `frame` the first frame. After CAMP_E_IO, sqlite3_errmsg() has the message. */
int recorder_table_create(struct recorder_table *table, sqlite3 *database, const char *tick_name,
                          const struct frame *frame);

/* Writes a frame; `key` says that it should be a key interval. *number is the highest entity number
 * in the file; new entities increase it. *ret_written is the number of written rows
 * of entities that are there. */
int recorder_table_write(struct recorder_table *table, int64_t tick, bool key,
                         const struct frame *frame, uint32_t *number, uint64_t *ret_written);

/* Creates the view `entity`, with a column for each label of tables[count]. */
int recorder_entity_view(const struct recorder_table *tables, size_t count, sqlite3 *database);

/* Undoes what recorder_table_write() has changed in *table for the interval `tick`, because the
 * caller has rolled back the transaction. */
void recorder_table_roll_back(struct recorder_table *table, int64_t tick);

void recorder_table_release(struct recorder_table *table);
