/* A recording while it is read: its file, and its tables, each with the rows of an interval. */
#pragma once

#include "format.h"
#include "recording.h"

#include <sqlite3.h>

/* ----------------------------------------------------------------------------------- File -- */

/* To be read only, whatever else it is. *ret is the caller's to close, also when this fails:
 * CAMP_E_FORMAT, it is no recording, or of a newer camp; CAMP_E_GONE, there is none. */
int recording_file_open(sqlite3 **ret, const char *path, struct camp_error *error);

/* CAMP_E_FORMAT: there is no interval in it. The message names the likely cause. */
int recording_file_fail_empty(const char *path, struct camp_error *error);

/* A number by a statement with one parameter at most. CAMP_OK with 0 where there is none. */
int recording_file_number(sqlite3 *database, const char *path, const char *sql, int64_t parameter,
                          int64_t *ret, struct camp_error *error);

/* What stands in the table `camp`; "" where nothing does. */
int recording_file_fact(sqlite3 *database, const char *path, const char *key, char *ret,
                        size_t size, struct camp_error *error);

/* Is the file shorter than its head says? Then pages are missing at its end, or the end of one. */
bool recording_file_ends_early(const char *path);

/* A statement of SQLite's printf (%w, %Q). Otherwise CAMP_E_FORMAT. */
int recording_prepare(sqlite3 *database, const char *path, sqlite3_stmt **ret,
                      struct camp_error *error, const char *format, ...);

/* What SQLite says of a failed call: CAMP_E_FORMAT where the file is not as it should be. */
int recording_failed(sqlite3 *database, const char *path, struct camp_error *error);

/* ---------------------------------------------------------------------------------- Table -- */

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

/* By the name of its schema. */
int recording_table_open(struct recording_table *table, sqlite3 *database, const char *path,
                         const char *name, const char *tick_name, struct camp_error *error);

/* The frame of an interval, at frames[now]. Intervals are to be read one after the other, from one
 * on that is a key. CAMP_OK, and `there` says whether it was recorded. */
int recording_table_read(struct recording_table *table, int64_t tick, struct camp_error *error);

/* The labels of an entity in an interval. */
int recording_labels_read(struct recording_table *table, int64_t tick, uint32_t number,
                          const struct labels **ret, struct camp_error *error);

void recording_table_release(struct recording_table *table);
