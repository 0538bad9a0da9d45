/* Reads the file and the tables of a recording. */
#pragma once

#include "recording.h"
#include "sources/foreign_database.h"

/* Returns EMFILE or ENFILE if SQLite cannot open its files because of a limit, otherwise 0. SQLite
 * reports only SQLITE_CANTOPEN. */
int recording_file_limit(void);

/* Opens a file for reading. The caller must close *ret, even after a failure, and sets
 * watch->stop. The watch allows more steps than a recording of this size needs. Returns
 * CAMP_E_FORMAT if the file is not a recording or was made by a newer camp. Returns CAMP_E_GONE if
 * there is no such file. */
int recording_file_open(sqlite3 **ret, const char *path, struct foreign_watch *watch,
                        struct camp_error *error);

/* Refuses a file in which something else than a table has the name of a table that camp reads, or
 * in which a table has computed columns. */
int recording_check_schema(sqlite3 *database, const char *path, struct camp_error *error);

/* The same for the tables NAME_rows and NAME_seldom. */
int recording_check_rows(sqlite3 *database, const char *path, const char *name,
                         struct camp_error *error);

/* Sets ret->labels. A file whose names of labels cannot be read has none. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int recording_read_labels(sqlite3 *database, const char *path, struct recording_info *ret);

/* Makes the error for a file without an interval, and returns CAMP_E_GONE. The message names the
 * likely cause. */
int recording_file_fail_empty(const char *path, struct camp_error *error);

/* Gets the number that `sql` selects, or 0 if it selects no row. `parameter` is the value of ?1, if
 * the statement has a parameter. */
int recording_file_number(sqlite3 *database, const char *path, const char *sql, int64_t parameter,
                          int64_t *ret, struct camp_error *error);

/* Fills `facts`, `intervals`, begin_ns, end_ns and is_cut, and is_damaged if damage was found. If
 * the file is damaged, *ret has the facts that could be read. */
int recording_file_info(sqlite3 *database, const char *path, struct recording_info *ret,
                        struct camp_error *error);

/* Prepares a statement. The format is that of sqlite3_mprintf(). */
int recording_prepare(sqlite3 *database, const char *path, sqlite3_stmt **ret,
                      struct camp_error *error, const char *format, ...);

/* Makes the error of a failed SQLite call. CAMP_E_FORMAT means that the file is damaged or is not a
 * recording. */
int recording_failed(sqlite3 *database, const char *path, struct camp_error *error);

/* Returns whether the schemas have columns and labels of the same names and kinds. */
bool recording_is_same_schema(const struct schema *left, const struct schema *right);

struct recording_rows {
    struct frame frame;
    struct recording_row {
        uint32_t number;
        struct idle_row idle;
    } * rows; /* [frame.entity_count] */
    size_t capacity;
};

struct recording_table {
    sqlite3 *database;
    const char *path;
    char *name;
    struct column *columns;
    struct schema schema;
    char *label_names[LABELS_MOST];
    sqlite3_stmt *tick, *identity;
    /* In a file of version 4, the numbers of an interval's rows are in `tick`. In older files, the
     * rows have the number of their interval, and instead of a number of their own that of their
     * entity. */
    bool has_row_numbers;
    sqlite3_stmt *rows; /* reads NAME_rows; columns 0 to 2 are the row's number, entity and flags */
    /* reads NAME_seldom; column 0 is the row's number. NULL if there is no such table. */
    sqlite3_stmt *seldom;
    /* [schema.column_count + RECORDING_EXTRA_COUNT] where each column is read */
    struct recording_place {
        sqlite3_stmt *statement; /* `rows` or `seldom` */
        int column;
    } * places;
    /* [schema.column_count] the column of which a column is a part, or -1. The file has only the
     * rest of a column that has parts: of a state, or of the counter of which a state is a part. */
    int *wholes;
    sqlite3_stmt *label;    /* NULL if the file has no labels */
    bool has_label_numbers; /* in a file of version 4; in older files, labels have their names */
    struct recording_rows intervals[2];
    /* intervals[now] was read last, intervals[!now] before it */
    int now;
    bool is_there; /* The interval of the newest recording_table_read() is in the file. */
};

/* Opens the table `name`. The table `tick_name` lists the intervals: "tick" or "tick_beside". */
int recording_table_open(struct recording_table *table, sqlite3 *database, const char *path,
                         const char *name, const char *tick_name, struct camp_error *error);

/* Reads an interval into intervals[now]. The first call must be for a key interval, and each
 * further call for a later interval. */
int recording_table_read(struct recording_table *table, int64_t tick, struct camp_error *error);

int recording_labels_read(struct recording_table *table, int64_t tick, uint32_t number,
                          labels_id *ret, struct camp_error *error);

void recording_table_release(struct recording_table *table);
