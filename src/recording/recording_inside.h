/* A recording while it is read: its file and its tables. */
#pragma once

#include "recording.h"

#include <sqlite3.h>

/* ----------------------------------------------------------------------------------- File -- */

/* Opens a file for reading. The caller closes *ret, also after a failure. CAMP_E_FORMAT: it is no
 * recording, or one of a newer camp. CAMP_E_GONE: there is no such file. */
int recording_file_open(sqlite3 **ret, const char *path, struct camp_error *error);

/* Fails with CAMP_E_FORMAT for a file without an interval. The message names the likely cause. */
int recording_file_fail_empty(const char *path, struct camp_error *error);

/* The number that a statement with at most one parameter selects; 0 without a row. */
int recording_file_number(sqlite3 *database, const char *path, const char *sql, int64_t parameter,
                          int64_t *ret, struct camp_error *error);

/* Fills the facts, the number of intervals, their begin and end, and is_cut. *ret has what can be
 * read of a damaged file. */
int recording_file_info(sqlite3 *database, const char *path, struct recording_info *ret,
                        struct camp_error *error);

/* Prepares a statement; the format is that of SQLite's printf (%w, %Q). */
int recording_prepare(sqlite3 *database, const char *path, sqlite3_stmt **ret,
                      struct camp_error *error, const char *format, ...);

/* The error of a failed call to SQLite. CAMP_E_FORMAT: the file is damaged, or no recording. */
int recording_failed(sqlite3 *database, const char *path, struct camp_error *error);

/* ---------------------------------------------------------------------------------- Table -- */

/* The rows of an interval. */
struct recording_rows {
    struct frame frame;
    struct recording_row {
        uint32_t number; /* of the row's entity */
        struct idle_row idle;
    } * rows; /* [frame.entity_count] */
    size_t capacity;
};

struct recording_table {
    sqlite3 *database;
    const char *path; /* for messages */
    char *name;
    struct column *columns; /* of the schema; their texts are owned */
    struct schema schema;
    char *label_names[LABELS_MOST]; /* of the schema; owned */
    sqlite3_stmt *tick, *identity;
    sqlite3_stmt *rows;  /* entity, flags, the schema's columns, enum recording_extra */
    sqlite3_stmt *label; /* NULL: the file has no labels */
    struct recording_rows intervals[2];
    int now;       /* index of the interval read last; the other interval is the one before it */
    bool is_there; /* the last interval requested was recorded */
};

/* Opens a table. `name` is the name of its schema, `tick_name` that of its table of intervals. */
int recording_table_open(struct recording_table *table, sqlite3 *database, const char *path,
                         const char *name, const char *tick_name, struct camp_error *error);

/* Reads intervals[now]. The first interval must be a key, and the others follow it in order. */
int recording_table_read(struct recording_table *table, int64_t tick, struct camp_error *error);

/* Reads the labels that an entity has in an interval. */
int recording_labels_read(struct recording_table *table, int64_t tick, uint32_t number,
                          const struct labels **ret, struct camp_error *error);

void recording_table_release(struct recording_table *table);
