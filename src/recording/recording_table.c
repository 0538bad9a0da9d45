/* Reads the schema of a recorded table from the file, and prepares the statements that read its
 * rows. */
#include "recording_inside.h"

#include "counters/error.h"
#include "ledger/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 1000 /* SQLite allows at most 2000. */

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text != NULL ? text : "";
}

static int kind_of(const char *text)
{
    for (int i = 0; i < (int)ARRAY_COUNT(recording_kinds); i++) {
        if (strcmp(text, recording_kinds[i]) == 0)
            return i;
    }
    return -1;
}

static int provenance_of(const char *text)
{
    for (int i = CAMP_MEASURED; i <= CAMP_DERIVED; i++) {
        if (strcmp(text, camp_provenance_name(i)) == 0)
            return i;
    }
    return CAMP_UNKNOWN;
}

static int is_damaged(const struct recording_table *table, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s: column_info of '%s' is damaged", table->path,
                     table->name);
}

/* Adds the column that a row of column_info describes. States must come before all other
 * columns. */
static int add_column(struct recording_table *table, sqlite3_stmt *row, struct camp_error *error)
{
    const size_t at = table->schema.column_count;
    const int kind = kind_of(text_of(row, 5));
    struct column *column;

    if (kind < 0 || at == COLUMNS_MOST || (kind == COLUMN_STATE && table->schema.state_count != at))
        return is_damaged(table, error);
    column = &table->columns[at];
    *column = (struct column){
        .name = strdup(text_of(row, 1)),
        .title = strdup(text_of(row, 3)),
        .help = strdup(text_of(row, 4)),
        .kind = (enum column_kind)kind,
        .provenance = (enum camp_provenance)provenance_of(text_of(row, 6)),
        .class = kind == COLUMN_STATE ? column_class_of(text_of(row, 1)) : CLASS_NONE,
        .short_title = column_short_title_of(text_of(row, 1)),
    };
    table->schema.column_count++;
    table->schema.state_count += kind == COLUMN_STATE;
    table->wholes[at] = sqlite3_column_int(row, 7);
    if (table->wholes[at] >= (kind == COLUMN_COUNTER ? (int)table->schema.state_count
                              : kind == COLUMN_STATE ? COLUMNS_MOST
                                                     : 0))
        return is_damaged(table, error);
    return column->name != NULL && column->title != NULL && column->help != NULL ? CAMP_OK
                                                                                 : CAMP_E_NOMEM;
}

/* If the rows are threads, gives their interrupt time the short title of system_ns, so that text
 * output adds up both in one column. Only threads have a run queue. */
static void share_interrupts(struct recording_table *table)
{
    bool are_threads = false;

    for (size_t i = table->schema.state_count; i-- > 0;) {
        are_threads |= strcmp(table->columns[i].name, "run_queue_ns") == 0;
        if (are_threads && strcmp(table->columns[i].name, "irq_ns") == 0)
            table->columns[i].short_title = column_short_title_of("system_ns");
    }
}

/* Returns whether each state that is a part of another column is one of a counter. */
static bool are_wholes_counters(const struct recording_table *table)
{
    for (size_t i = 0; i < table->schema.state_count; i++) {
        const int whole = table->wholes[i];

        if (whole >= 0 &&
            ((size_t)whole >= table->schema.column_count || table->wholes[whole] >= 0 ||
             table->columns[whole].kind != COLUMN_COUNTER))
            return false;
    }
    return true;
}

static bool place_in(struct recording_place *ret, sqlite3_stmt *statement, const char *name)
{
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        if (strcmp(sqlite3_column_name(statement, i), name) == 0) {
            *ret = (struct recording_place){ statement, i };
            return true;
        }
    }
    return false;
}

/* Finds the statement and position of column `at`, whose SQL name is `name`. */
static int find_place(struct recording_table *table, const char *name, size_t at,
                      struct camp_error *error)
{
    if (place_in(&table->places[at], table->rows, name) ||
        place_in(&table->places[at], table->seldom, name))
        return CAMP_OK;
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s: '%s' has no column '%s'", table->path,
                     table->name, name);
}

static int read_columns(struct recording_table *table, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped = SQLITE_DONE;
    /* In a file before version 3, the states are whole. */
    const bool has_parts =
        sqlite3_table_column_metadata(table->database, NULL, "column_info", "part_of", NULL, NULL,
                                      NULL, NULL, NULL) == SQLITE_OK;
    int r = recording_prepare(
        table->database, table->path, &statement, error,
        "SELECT position" RECORDING_COLUMN(SQL_NAME) ", %s FROM column_info "
                                                     "WHERE table_name = %Q ORDER BY position",
        has_parts ? "part_of" : "-1", table->name);

    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        r = add_column(table, statement, error);
        if (r == CAMP_OK)
            r = find_place(table, text_of(statement, 2), table->schema.column_count - 1, error);
    }
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    sqlite3_finalize(statement);
    if (r != CAMP_OK)
        return r;
    if (!are_wholes_counters(table))
        return is_damaged(table, error);
    share_interrupts(table);
    if (table->schema.column_count == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: '%s' has no columns", table->path,
                         table->name);
    schema_find_maxima(&table->schema);
    r = find_place(table, "count", table->schema.column_count + RECORDING_COUNT, error);
    if (r == CAMP_OK)
        r = find_place(table, table->schema.state_count > 0 ? "unaccounted_ns" : "elapsed_ns",
                       table->schema.column_count + RECORDING_UNACCOUNTED, error);
    return r;
}

static int allocate(struct recording_table *table, const char *name)
{
    table->name = strdup(name);
    table->columns = calloc(COLUMNS_MOST, sizeof *table->columns);
    table->wholes = calloc(COLUMNS_MOST, sizeof *table->wholes);
    table->places = calloc(COLUMNS_MOST + RECORDING_EXTRA_COUNT, sizeof *table->places);
    table->schema = (struct schema){ .name = table->name, .columns = table->columns };
    for (int i = 0; i < 2; i++)
        frame_init(&table->intervals[i].frame, &table->schema);
    return table->name != NULL && table->columns != NULL && table->places != NULL &&
                   table->wholes != NULL
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

/* Returns whether the file has a table with this column. */
static bool has_column(sqlite3 *database, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(database, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static int read_names(struct recording_table *table, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped = SQLITE_DONE;
    int r = recording_prepare(table->database, table->path, &statement, error,
                              "SELECT name FROM label_name WHERE table_name = %Q "
                              "ORDER BY position LIMIT %d",
                              table->name, LABELS_MOST);

    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        char *name = strdup(text != NULL ? text : "");

        if (name != NULL)
            table->label_names[table->schema.label_count++] = name;
        else
            r = CAMP_E_NOMEM;
    }
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    sqlite3_finalize(statement);
    return r;
}

static int open_labels(struct recording_table *table, struct camp_error *error)
{
    int r;

    if (!has_column(table->database, "label_name", "name"))
        return CAMP_OK;
    table->schema.label_names = (const char *const *)table->label_names;
    r = read_names(table, error);
    if (r != CAMP_OK || table->schema.label_count == 0)
        return r;
    table->has_label_numbers = has_column(table->database, "label_value", "position");
    /* The key of the table finds the row, however often the label has changed. */
    return recording_prepare(table->database, table->path, &table->label, error,
                             "SELECT value FROM %s WHERE entity = ? AND %s = ? AND since_tick <= ? "
                             "ORDER BY since_tick DESC LIMIT 1",
                             table->has_label_numbers ? "label_value" : "label",
                             table->has_label_numbers ? "position" : "name");
}

/* Reads the value that a label has in the interval. */
static int read_label(struct recording_table *table, int64_t tick, size_t label,
                      char ret[LABELS_VALUE_SIZE + 1], struct camp_error *error)
{
    const char *text = NULL;
    int stepped;

    if (table->has_label_numbers)
        sqlite3_bind_int64(table->label, 2, (int64_t)label);
    else
        sqlite3_bind_text(table->label, 2, table->label_names[label], -1, SQLITE_STATIC);
    sqlite3_bind_int64(table->label, 3, tick);
    stepped = sqlite3_step(table->label);
    if (stepped == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(table->label, 0);
    /* labels_intern() truncates longer values. */
    snprintf(ret, LABELS_VALUE_SIZE + 1, "%s", text != NULL ? text : "");
    sqlite3_reset(table->label);
    return stepped == SQLITE_ROW || stepped == SQLITE_DONE
               ? CAMP_OK
               : recording_failed(table->database, table->path, error);
}

int recording_labels_read(struct recording_table *table, int64_t tick, uint32_t number,
                          labels_id *ret, struct camp_error *error)
{
    char texts[LABELS_MOST][LABELS_VALUE_SIZE + 1];
    const char *values[LABELS_MOST];
    int r = CAMP_OK;

    *ret = LABELS_NONE;
    if (table->label == NULL)
        return CAMP_OK;
    sqlite3_bind_int64(table->label, 1, number);
    for (size_t i = 0; i < table->schema.label_count && r == CAMP_OK; i++) {
        r = read_label(table, tick, i, texts[i], error);
        values[i] = texts[i];
    }
    if (r == CAMP_OK)
        *ret = labels_intern(values, table->schema.label_count);
    return r;
}

static int prepare_rows(struct recording_table *table, struct camp_error *error)
{
    char *seldom = sqlite3_mprintf("%s_seldom", table->name);
    char *rows = sqlite3_mprintf("%s_rows", table->name);
    const bool has_seldom = seldom != NULL && has_column(table->database, seldom, NULL);
    const char *number = "entity", *where = "tick = ?1";
    int r;

    table->has_row_numbers = rows != NULL && !has_column(table->database, rows, "tick");
    if (table->has_row_numbers) {
        number = "row_number";
        where = "row_number >= ?2 AND row_number < ?3";
    }
    r = recording_prepare(table->database, table->path, &table->rows, error,
                          "SELECT %s, entity, flags, * FROM \"%w_rows\" WHERE %s ORDER BY %s",
                          number, table->name, where, number);

    if (r == CAMP_OK && has_seldom)
        r = recording_prepare(table->database, table->path, &table->seldom, error,
                              "SELECT %s, * FROM \"%w\" WHERE %s ORDER BY %s", number, seldom,
                              where, number);
    if (r == CAMP_OK && (seldom == NULL || rows == NULL))
        r = CAMP_E_NOMEM;
    sqlite3_free(seldom);
    sqlite3_free(rows);
    return r;
}

static int prepare_others(struct recording_table *table, const char *tick_name,
                          struct camp_error *error)
{
    const int r =
        recording_prepare(table->database, table->path, &table->tick, error,
                          "SELECT tick" RECORDING_TICK(SQL_NAME) "%s FROM %s "
                                                                 "WHERE tick = ?",
                          table->has_row_numbers ? RECORDING_RANGE(SQL_NAME) : "", tick_name);

    return r != CAMP_OK ? r
                        : recording_prepare(table->database, table->path, &table->identity, error,
                                            "SELECT name" RECORDING_IDENTITY(
                                                SQL_NAME) " FROM identity "
                                                          "WHERE entity = ? AND since_tick <= ? "
                                                          "ORDER BY since_tick DESC LIMIT 1");
}

int recording_table_open(struct recording_table *table, sqlite3 *database, const char *path,
                         const char *name, const char *tick_name, struct camp_error *error)
{
    int r;

    *table = (struct recording_table){ .database = database, .path = path };
    r = allocate(table, name);
    if (r == CAMP_OK)
        r = prepare_rows(table, error);
    if (r == CAMP_OK)
        r = read_columns(table, error);
    if (r == CAMP_OK)
        r = open_labels(table, error);
    if (r == CAMP_OK)
        r = prepare_others(table, tick_name, error);
    return r;
}

void recording_table_release(struct recording_table *table)
{
    sqlite3_finalize(table->tick);
    sqlite3_finalize(table->rows);
    sqlite3_finalize(table->seldom);
    sqlite3_finalize(table->identity);
    sqlite3_finalize(table->label);
    for (size_t i = 0; i < LABELS_MOST; i++)
        free(table->label_names[i]);
    for (size_t i = 0; i < table->schema.column_count; i++) {
        free((char *)table->columns[i].name);
        free((char *)table->columns[i].title);
        free((char *)table->columns[i].help);
    }
    free(table->columns);
    free(table->places);
    free(table->wholes);
    free(table->name);
    for (int i = 0; i < 2; i++) {
        frame_release(&table->intervals[i].frame);
        free(table->intervals[i].rows);
    }
    *table = (struct recording_table){ 0 };
}
