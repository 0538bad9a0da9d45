/* One table of a recording while it is read: its schema, and the rows of an interval. */
#ifndef CAMP_RECORDING_RECORDING_TABLE_H
#define CAMP_RECORDING_RECORDING_TABLE_H

#include "idle_rows.h"

#include <sqlite3.h>

/* Where a column of struct schema, or of enum recording_extra, is. */
struct recording_place {
    bool seldom;
    int at; /* column of the statement */
};

/* What is known of a row besides what is in a frame. */
struct recording_row {
    uint32_t number;
    struct rest rest;
};

struct recording_table {
    sqlite3 *database;
    const char *path; /* for messages */
    char *name;
    struct column *columns; /* of the schema; their texts are owned */
    char **column_names;    /* in SQL */
    struct schema schema;
    char *label_names[LABELS_MOST]; /* of the schema; owned */
    struct recording_place *places; /* [columns and extras] */
    bool has_seldom;
    sqlite3_stmt *tick, *rows, *seldom, *identity;
    sqlite3_stmt *label;    /* NULL: the file has no labels */
    struct frame frames[2]; /* the interval before, and this one */
    struct recording_row *row_facts[2];
    size_t row_capacity[2];
    int now;    /* which of the two is the last */
    bool there; /* the last interval asked for was recorded */
};

/* A statement of SQLite's printf (%w, %Q). Otherwise CAMP_E_FORMAT. */
int recording_prepare(sqlite3 *database, const char *path, sqlite3_stmt **ret,
                      struct camp_error *error, const char *format, ...);

/* What SQLite says of a failed call: CAMP_E_FORMAT where the file is not as it should be. */
int recording_failed(sqlite3 *database, const char *path, struct camp_error *error);

/* By the name of its schema. */
int recording_table_open(struct recording_table *table, sqlite3 *database, const char *path,
                         const char *name, const char *tick_name, struct camp_error *error);

/* The frame of an interval, at frames[now]. Intervals are to be read one after the other, from one
 * on that is a key. CAMP_OK, and `there` says whether it was recorded. */
int recording_table_read(struct recording_table *table, int64_t tick, struct camp_error *error);

/* The names of its labels, if the file has any, and the statement that reads them. */
int recording_labels_open(struct recording_table *table, struct camp_error *error);

/* The labels of an entity in an interval. */
int recording_labels_read(struct recording_table *table, int64_t tick, uint32_t number,
                          const struct labels **ret, struct camp_error *error);

void recording_labels_release(struct recording_table *table);

void recording_table_release(struct recording_table *table);

#endif
