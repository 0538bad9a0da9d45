/* Refuses a file whose schema could compute instead of store: views and virtual tables in place of
 * tables, and columns that are computed. Such a file can have rows without end. */
#include "recording_inside.h"

#include "cause_tables.h"
#include "counters/error.h"
#include "ledger/array.h"

#include <stdio.h>
#include <string.h>

static const char *const read_tables[] = { "camp",        "tick",     "tick_beside",
                                           "column_info", "identity", "label_value",
                                           "label_name",  "note",     CAUSE_TABLES };

static int refuse(const char *path, const char *name, const char *what, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not a recording: '%.40s' %s", path, name,
                     what);
}

/* Views are not tables for this function of SQLite, and it does not expand them. */
static bool is_table(sqlite3 *database, const char *name)
{
    return sqlite3_table_column_metadata(database, "main", name, NULL, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* Gets the number that `sql` selects. The value of ?1 is `name`. */
static int number_of(sqlite3 *database, const char *path, const char *sql, const char *name,
                     int64_t *ret, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int r = recording_prepare(database, path, &statement, error, "%s", sql);

    if (r != CAMP_OK)
        return r;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW)
        *ret = sqlite3_column_int64(statement, 0);
    else
        r = recording_failed(database, path, error);
    sqlite3_finalize(statement);
    return r;
}

/* Returns CAMP_OK if there is no such table. */
static int check_table(sqlite3 *database, const char *path, const char *name,
                       struct camp_error *error)
{
    int64_t count = 0;
    int r;

    if (is_table(database, name))
        return CAMP_OK;
    r = number_of(database, path,
                  "SELECT count(*) FROM sqlite_master WHERE name = ?1 COLLATE NOCASE", name, &count,
                  error);
    return r == CAMP_OK && count > 0 ? refuse(path, name, "is not a table", error) : r;
}

static int check_columns(sqlite3 *database, const char *path, const char *name,
                         struct camp_error *error)
{
    int64_t count = 0;
    int r = CAMP_OK;

    if (!is_table(database, name)) /* The file may end before this table. */
        return CAMP_OK;
    r = number_of(database, path, "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 0",
                  name, &count, error);
    return r == CAMP_OK && count > 0 ? refuse(path, name, "has computed columns", error) : r;
}

/* SQLite parses the column `sql` of the schema, whatever the other columns claim. */
#define IS_PLAIN                                                                                   \
    "ifnull(sql GLOB 'CREATE TABLE *' OR sql GLOB 'CREATE VIEW *' OR sql GLOB 'CREATE INDEX *' "   \
    "OR sql GLOB 'CREATE UNIQUE INDEX *' OR sql GLOB 'CREATE TRIGGER *', sql IS NULL)"

static int check_all(sqlite3 *database, const char *path, struct camp_error *error)
{
    sqlite3_stmt *statement = NULL;
    int stepped = SQLITE_DONE;
    int r = recording_prepare(database, path, &statement, error,
                              "SELECT name, type = 'table', " IS_PLAIN " FROM sqlite_master");

    while (r == CAMP_OK && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);

        if (name == NULL || sqlite3_column_int(statement, 2) == 0)
            r = refuse(path, name != NULL ? name : "", "is not a table", error);
        else if (sqlite3_column_int(statement, 1) != 0)
            r = check_columns(database, path, name, error);
    }
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(database, path, error);
    sqlite3_finalize(statement);
    return r;
}

int recording_check_schema(sqlite3 *database, const char *path, struct camp_error *error)
{
    int r = check_all(database, path, error);

    for (size_t i = 0; i < ARRAY_COUNT(read_tables) && r == CAMP_OK; i++)
        r = check_table(database, path, read_tables[i], error);
    /* The labels of a file before version 4. Later, this is a view that camp does not read. */
    return r == CAMP_OK && !is_table(database, "label_value")
               ? check_table(database, path, "label", error)
               : r;
}

int recording_check_rows(sqlite3 *database, const char *path, const char *name,
                         struct camp_error *error)
{
    static const char *const parts[] = { "rows", "seldom" };
    int r = CAMP_OK;

    for (size_t i = 0; i < ARRAY_COUNT(parts) && r == CAMP_OK; i++) {
        char *part = sqlite3_mprintf("%s_%s", name, parts[i]);

        r = part != NULL ? check_table(database, path, part, error) : CAMP_E_NOMEM;
        sqlite3_free(part);
    }
    return r;
}

int recording_read_labels(sqlite3 *database, const char *path, struct recording_info *ret)
{
    sqlite3_stmt *statement = NULL;
    size_t length = 0;
    int r, found = sqlite3_table_column_metadata(database, "main", "label_name", "name", NULL, NULL,
                                                 NULL, NULL, NULL);

    if (found != SQLITE_OK)
        return found == SQLITE_NOMEM ? CAMP_E_NOMEM : CAMP_OK;
    r = recording_prepare(database, path, &statement, NULL,
                          "SELECT name FROM label_name WHERE table_name = %Q ORDER BY position"
                          " LIMIT 64",
                          ret->facts[RECORDING_TABLE]);
    while (r == CAMP_OK && (found = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);

        if (name == NULL && sqlite3_errcode(database) == SQLITE_NOMEM)
            r = CAMP_E_NOMEM;
        if (name == NULL || length + strlen(name) + 2 > RECORDING_LABELS_SIZE)
            continue;
        length += (size_t)snprintf(ret->labels + length, RECORDING_LABELS_SIZE - length, "%s%s",
                                   length > 0 ? ";" : "", name);
    }
    sqlite3_finalize(statement);
    return r == CAMP_E_NOMEM || found == SQLITE_NOMEM ? CAMP_E_NOMEM : CAMP_OK;
}

bool recording_is_same_schema(const struct schema *left, const struct schema *right)
{
    if (left->column_count != right->column_count || left->state_count != right->state_count ||
        left->label_count != right->label_count)
        return false;
    for (size_t i = 0; i < left->label_count; i++) {
        if (strcmp(left->label_names[i], right->label_names[i]) != 0)
            return false;
    }
    for (size_t i = 0; i < left->column_count; i++) {
        if (strcmp(left->columns[i].name, right->columns[i].name) != 0 ||
            left->columns[i].kind != right->columns[i].kind)
            return false;
    }
    return true;
}
