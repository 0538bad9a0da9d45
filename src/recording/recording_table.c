/* The schema of a recording's table, as the file describes it, and the statements that read it. */
#include "recording_table.h"

#include "counters/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 1000 /* SQLite itself has at most 2000 */

int recording_failed(sqlite3 *database, const char *path, struct camp_error *error)
{
    const int code = sqlite3_errcode(database) & 0xff;

    if (code == SQLITE_NOMEM)
        return CAMP_E_NOMEM;
    if (code == SQLITE_NOTADB)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not a recording", path);
    if (code == SQLITE_CANTOPEN) /* SQLite makes a -shm beside it */
        return camp_fail(error, CAMP_E_PERM, sqlite3_system_errno(database),
                         "%s was not closed (its -wal file still exists): reading it needs "
                         "permission to write in its folder; or copy both files to another folder",
                         path);
    if (code == SQLITE_CORRUPT)
        return camp_fail(error, CAMP_E_FORMAT, 0,
                         "%s is damaged: it ends too early, or was overwritten; the intact part "
                         "before that was shown",
                         path);
    if (code == SQLITE_ERROR)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not a complete recording: %s", path,
                         sqlite3_errmsg(database));
    return camp_fail(error, CAMP_E_IO, sqlite3_system_errno(database), "cannot read %s: %s", path,
                     sqlite3_errmsg(database));
}

int recording_prepare(sqlite3 *database, const char *path, sqlite3_stmt **ret,
                      struct camp_error *error, const char *format, ...)
{
    va_list arguments;
    char *sql;
    int r;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (sql == NULL)
        return CAMP_E_NOMEM;
    r = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    sqlite3_free(sql);
    return r == SQLITE_OK ? CAMP_OK : recording_failed(database, path, error);
}

/* ---------------------------------------------------------------------------------- Schema -- */

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text != NULL ? text : "";
}

static int index_of(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0)
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

/* A further column, of a row of column_info. States come first, as in every schema. */
static int add_column(struct recording_table *table, sqlite3_stmt *row, struct camp_error *error)
{
    static const char *const kinds[] = { "state", "counter", "gauge" };
    const size_t at = table->schema.column_count;
    const int kind = index_of(text_of(row, 4), kinds, 3);
    struct column *column;

    if (kind < 0 || at == COLUMNS_MOST || (kind == COLUMN_STATE && table->schema.state_count != at))
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: column_info of '%s' is damaged", table->path,
                         table->name);
    column = &table->columns[at];
    *column = (struct column){
        .name = strdup(text_of(row, 0)),
        .title = strdup(text_of(row, 2)),
        .help = strdup(text_of(row, 3)),
        .kind = (enum column_kind)kind,
        .provenance = (enum camp_provenance)provenance_of(text_of(row, 5)),
        .class = kind == COLUMN_STATE ? column_class_of(text_of(row, 0)) : CLASS_NONE,
        .short_title = column_short_title_of(text_of(row, 0)),
    };
    table->column_names[at] = strdup(text_of(row, 1));
    table->places[at].seldom = sqlite3_column_int(row, 6) != 0;
    table->schema.column_count++;
    table->schema.state_count += kind == COLUMN_STATE;
    if (column->name == NULL || column->title == NULL || column->help == NULL ||
        table->column_names[at] == NULL)
        return CAMP_E_NOMEM;
    return CAMP_OK;
}

static int read_columns(struct recording_table *table, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int r = recording_prepare(table->database, table->path, &statement, error,
                              "SELECT name, column_name, title, help, kind, provenance, seldom "
                              "FROM column_info WHERE table_name = %Q ORDER BY position",
                              table->name);
    int stepped = SQLITE_DONE;

    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW)
        r = add_column(table, statement, error);
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    sqlite3_finalize(statement);
    if (r == CAMP_OK && table->schema.column_count == 0)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: '%s' has no columns", table->path,
                         table->name);
    return r;
}

static int allocate(struct recording_table *table, const char *name)
{
    const size_t most = COLUMNS_MOST + RECORDING_EXTRA_COUNT;

    table->name = strdup(name);
    table->columns = calloc(most, sizeof *table->columns);
    table->column_names = calloc(most, sizeof *table->column_names);
    table->places = calloc(most, sizeof *table->places);
    table->schema = (struct schema){ .name = table->name, .columns = table->columns };
    for (int i = 0; i < 2; i++)
        frame_init(&table->frames[i], &table->schema);
    return table->name != NULL && table->columns != NULL && table->column_names != NULL &&
                   table->places != NULL
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

/* -------------------------------------------------------------------------------- Statements -- */

static bool has_column(const struct recording_table *table, const char *suffix, const char *column)
{
    char *name = sqlite3_mprintf("%s_%s", table->name, suffix);
    const int r = name != NULL ? sqlite3_table_column_metadata(table->database, NULL, name, column,
                                                               NULL, NULL, NULL, NULL, NULL)
                               : SQLITE_NOMEM;

    sqlite3_free(name);
    return r == SQLITE_OK;
}

static int name_extras(struct recording_table *table)
{
    const size_t count = table->schema.column_count;
    char **names = &table->column_names[count];

    names[RECORDING_COUNT] = strdup("count");
    names[RECORDING_UNACCOUNTED] =
        strdup(table->schema.state_count > 0 ? "unaccounted_ns" : "elapsed_ns");
    if (names[0] == NULL || names[1] == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = count; i < count + RECORDING_EXTRA_COUNT; i++)
        table->places[i].seldom = has_column(table, "seldom", table->column_names[i]);
    return CAMP_OK;
}

/* The columns of one of the two tables, in the order of the schema. */
static int prepare_part(struct recording_table *table, bool seldom, sqlite3_stmt **ret,
                        struct camp_error *error)
{
    sqlite3_str *list = sqlite3_str_new(table->database);
    char *text;
    int at = seldom ? 1 : 2, r;

    for (size_t i = 0; i < table->schema.column_count + RECORDING_EXTRA_COUNT; i++) {
        if (table->places[i].seldom != seldom)
            continue;
        sqlite3_str_appendf(list, ", t.\"%w\"", table->column_names[i]);
        table->places[i].at = at++;
        table->has_seldom = table->has_seldom || seldom;
    }
    text = sqlite3_str_finish(list);
    if (seldom && !table->has_seldom)
        return CAMP_OK;
    r = recording_prepare(table->database, table->path, ret, error,
                          "SELECT entity%s%s FROM \"%w_%s\" AS t WHERE tick = ? ORDER BY entity",
                          seldom ? "" : ", flags", text != NULL ? text : "", table->name,
                          seldom ? "seldom" : "rows");
    sqlite3_free(text);
    return r;
}

int recording_table_open(struct recording_table *table, sqlite3 *database, const char *path,
                         const char *name, const char *tick_name, struct camp_error *error)
{
    int r;

    *table = (struct recording_table){ .database = database, .path = path };
    r = allocate(table, name);
    if (r == CAMP_OK)
        r = read_columns(table, error);
    if (r == CAMP_OK)
        r = recording_labels_open(table, error);
    if (r == CAMP_OK)
        r = name_extras(table);
    if (r == CAMP_OK)
        r = prepare_part(table, true, &table->seldom, error);
    if (r == CAMP_OK)
        r = prepare_part(table, false, &table->rows, error);
    if (r == CAMP_OK)
        r = recording_prepare(database, path, &table->tick, error,
                              "SELECT start_ns, end_ns, wall_clock_ns, unseen, lost, unread_ns, "
                              "partial, key FROM %s WHERE tick = ?",
                              tick_name);
    if (r == CAMP_OK)
        r = recording_prepare(database, path, &table->identity, error,
                              "SELECT id, pid, parent, uid, cgroup, kernel, name FROM identity "
                              "WHERE entity = ? AND since_tick <= ? "
                              "ORDER BY since_tick DESC LIMIT 1");
    return r;
}

void recording_table_release(struct recording_table *table)
{
    sqlite3_finalize(table->tick);
    sqlite3_finalize(table->rows);
    sqlite3_finalize(table->seldom);
    sqlite3_finalize(table->identity);
    recording_labels_release(table);
    for (size_t i = 0; table->columns != NULL && i <= table->schema.column_count; i++) {
        free((char *)table->columns[i].name);
        free((char *)table->columns[i].title);
        free((char *)table->columns[i].help);
    }
    for (size_t i = 0; table->column_names != NULL && i < COLUMNS_MOST + RECORDING_EXTRA_COUNT; i++)
        free(table->column_names[i]);
    free(table->columns);
    free(table->column_names);
    free(table->places);
    free(table->name);
    for (int i = 0; i < 2; i++) {
        frame_release(&table->frames[i]);
        free(table->row_facts[i]);
    }
    *table = (struct recording_table){ 0 };
}
