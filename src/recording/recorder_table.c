/*
 * Creates the SQL tables and views of one schema. The table NAME_rows has a row for each written
 * row of a frame. The table NAME_seldom has the columns that recording_plan() selects, and has a
 * row only if one of them differs from recording_usual(). The view NAME joins the two tables. The
 * view NAME_every also has the idle rows that were left out.
 *
 * The rows have consecutive numbers, and `tick` has the numbers of each interval. So the tables
 * grow at their ends: SQLite then fills their pages whole, which it does for integer keys only. (A
 * key of interval and entity left an eighth of each page empty.)
 *
 * If a source has labels, the file has the tables `label_value` and `label_name`, the view `label`
 * joins them, and the view `entity` has a column for each label. A label is written only if its
 * value has changed. So a session that begins another query needs only one row.
 */
#include "recorder_table.h"

#include "cause_tables.h"

#include <camp/camp.h>

#include <stdlib.h>
#include <string.h>

/* Returns whether the name is reserved for a table or column of every recording, or for SQLite. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {
        "camp",       "tick",        "tick_beside", "column_info",    "label",
        "label_name", "label_value", "entity",      "note",           "flags",
        "identity",   "elapsed_ns",  "count",       "unaccounted_ns", "causes",
        "row_number", "next_tick",   "times",       CAUSE_TABLES
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(name, names[i]) == 0)
            return true;
    }
    return strncasecmp(name, "sqlite_", 7) == 0;
}

static bool is_taken(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns an SQL name that differs from all of names[count], or NULL if there is no memory. The
 * caller must free the name with sqlite3_free(). */
static char *free_name(char *const *names, size_t count, const char *wanted)
{
    char *name = sqlite3_mprintf("%s", wanted[0] != '\0' ? wanted : "unnamed");

    for (unsigned i = 2; name != NULL && (is_reserved(name) || is_taken(names, count, name)); i++) {
        sqlite3_free(name);
        name = sqlite3_mprintf("%s_%u", wanted, i);
    }
    return name;
}

static int name_columns(struct recorder_table *table)
{
    const struct schema *schema = table->schema;

    table->column_names = calloc(table->columns, sizeof *table->column_names);
    table->name = free_name(NULL, 0, schema->name);
    if (table->column_names == NULL || table->name == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < table->columns; i++) {
        const char *extra = i == schema->column_count + RECORDING_COUNT ? "count"
                            : schema->state_count > 0                   ? "unaccounted_ns"
                                                                        : "elapsed_ns";

        table->column_names[i] = i < schema->column_count
                                     ? free_name(table->column_names, i, schema->columns[i].name)
                                     : sqlite3_mprintf("%s", extra);
        if (table->column_names[i] == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

static bool has_seldom(const struct recorder_table *table)
{
    return memchr(table->seldom, 1, table->columns) != NULL;
}

static int result_of(int r)
{
    return r == SQLITE_OK ? CAMP_OK : r == SQLITE_NOMEM ? CAMP_E_NOMEM : CAMP_E_IO;
}

static int run(sqlite3 *database, sqlite3_str *text)
{
    char *sql = sqlite3_str_finish(text);
    int r = sql != NULL ? sqlite3_exec(database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    return result_of(r);
}

static void create_rows(const struct recorder_table *table, sqlite3_str *sql, bool seldom)
{
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w_%s\"(row_number INTEGER PRIMARY KEY", table->name,
                        seldom ? "seldom" : "rows");
    if (!seldom)
        sqlite3_str_appendall(sql, ", entity INTEGER NOT NULL, flags INTEGER NOT NULL");
    for (size_t i = 0; i < table->columns; i++) {
        if (table->seldom[i] == seldom)
            sqlite3_str_appendf(sql, ", \"%w\" INTEGER NOT NULL", table->column_names[i]);
    }
    sqlite3_str_appendall(sql, ") STRICT;");
}

/* Appends what NAME_rows (AS r) or NAME_seldom (AS s) has of a column. */
static void append_stored(const struct recorder_table *table, size_t column, sqlite3_str *sql)
{
    if (table->seldom[column])
        sqlite3_str_appendf(sql, "ifnull(s.\"%w\", %d)", table->column_names[column],
                            (int)recording_usual(table->schema, column));
    else
        sqlite3_str_appendf(sql, "r.\"%w\"", table->column_names[column]);
}

/* Appends the value of a column: what the tables have of it, and its parts. */
static void append_value(const struct recorder_table *table, size_t column, sqlite3_str *sql)
{
    append_stored(table, column, sql);
    for (size_t i = table->parts[column].first; i < table->parts[column].end; i++) {
        sqlite3_str_appendall(sql, " + ");
        append_value(table, i, sql);
    }
}

static void append_elapsed(const struct recorder_table *table, sqlite3_str *sql)
{
    const size_t count = table->schema->column_count;

    if (table->schema->state_count == 0)
        return;
    sqlite3_str_appendall(sql, ", ");
    append_stored(table, count + RECORDING_UNACCOUNTED, sql);
    for (size_t i = 0; i < table->schema->state_count; i++) {
        sqlite3_str_appendall(sql, " + ");
        append_value(table, i, sql);
    }
    sqlite3_str_appendall(sql, " AS elapsed_ns");
}

/* Appends a SELECT of all written rows, without its WHERE. `more` is the text of further columns.
 * CROSS JOIN lets SQLite find the rows by the interval, and never the interval by a row, for which
 * `tick` has no index. */
static void append_select(const struct recorder_table *table, const char *tick_name,
                          const char *more, sqlite3_str *sql)
{
    sqlite3_str_appendall(sql, "SELECT t.tick, r.entity, r.flags");
    for (size_t i = 0; i < table->columns; i++) {
        sqlite3_str_appendall(sql, ", ");
        append_value(table, i, sql);
        sqlite3_str_appendf(sql, " AS \"%w\"", table->column_names[i]);
    }
    append_elapsed(table, sql);
    sqlite3_str_appendf(sql,
                        "%s FROM %s AS t CROSS JOIN \"%w_rows\" AS r ON r.row_number >= t.first_row"
                        " AND r.row_number < t.first_row + t.row_count",
                        more, tick_name, table->name);
    if (has_seldom(table))
        sqlite3_str_appendf(sql, " LEFT JOIN \"%w_seldom\" AS s USING (row_number)", table->name);
}

static void create_view(const struct recorder_table *table, const char *tick_name, sqlite3_str *sql)
{
    sqlite3_str_appendf(sql, "CREATE VIEW \"%w\" AS ", table->name);
    append_select(table, tick_name, "", sql);
    sqlite3_str_appendf(sql, " WHERE r.flags & %d = 0;", RECORDING_GONE);
}

/* Appends a column of NAME_every. In a restored row, a state or counter gets the time of the row if
 * it was not 0 in the written row; gauges and the count keep their values. */
static void append_every(const struct recorder_table *table, sqlite3_str *sql, size_t column)
{
    const struct schema *schema = table->schema;
    const char *name = table->column_names[column];
    const bool stays =
        column == schema->column_count + RECORDING_COUNT ||
        (column < schema->column_count && schema->columns[column].kind == COLUMN_GAUGE);

    if (stays)
        sqlite3_str_appendf(sql, ", r.\"%w\"", name);
    else
        sqlite3_str_appendf(sql,
                            ", CASE WHEN tick.tick = r.tick OR r.\"%w\" = 0 THEN r.\"%w\" "
                            "ELSE r.times * (tick.end_ns - tick.start_ns) END AS \"%w\"",
                            name, name, name);
}

/* Creates NAME_every, which repeats each idle row in all intervals until the entity's next row, or
 * until the end of the recording. */
static void create_view_of_every(const struct recorder_table *table, sqlite3_str *sql,
                                 const char *tick_name)
{
    sqlite3_str_appendf(sql, "CREATE VIEW \"%w_every\" AS WITH v AS (", table->name);
    append_select(table, tick_name,
                  ", lead(t.tick, 1, 9223372036854775807) OVER (PARTITION BY r.entity ORDER BY "
                  "t.tick) AS next_tick",
                  sql);
    sqlite3_str_appendf(
        sql,
        "), r AS (SELECT v.*, "
        "CAST(round(1.0 * elapsed_ns / max(1, own.end_ns - own.start_ns)) AS INTEGER) AS times "
        "FROM v JOIN %s AS own USING (tick) WHERE flags & %d = 0) "
        "SELECT tick.tick, r.entity, r.flags",
        tick_name, RECORDING_GONE);
    for (size_t i = 0; i < table->columns; i++)
        append_every(table, sql, i);
    if (table->schema->state_count > 0)
        sqlite3_str_appendall(sql, ", CASE WHEN tick.tick = r.tick THEN r.elapsed_ns ELSE r.times "
                                   "* (tick.end_ns - tick.start_ns) END AS elapsed_ns");
    sqlite3_str_appendf(sql,
                        " FROM r JOIN %s AS tick ON tick.tick >= r.tick AND tick.tick < "
                        "iif(r.flags & %d, r.next_tick, r.tick + 1);",
                        tick_name, RECORDING_IDLE);
}

/* Returns the column of which a column is a part, or -1. */
static int whole_of(const struct recorder_table *table, size_t column)
{
    for (size_t i = 0; i < table->schema->column_count; i++) {
        if (column >= table->parts[i].first && column < table->parts[i].end)
            return (int)i;
    }
    return -1;
}

static void describe_columns(const struct recorder_table *table, sqlite3_str *sql)
{
    for (size_t i = 0; i < table->schema->column_count; i++) {
        const struct column *column = &table->schema->columns[i];

        sqlite3_str_appendf(
            sql, "INSERT INTO column_info VALUES(%Q, %d, %Q, %Q, %Q, %Q, %Q, %Q, %d, %d);",
            table->name, (int)i, column->name, table->column_names[i], column->title, column->help,
            recording_kinds[column->kind], camp_provenance_name((int)column->provenance),
            table->seldom[i], whole_of(table, i));
    }
}

static int prepare(sqlite3 *database, const char *sql, sqlite3_stmt **ret)
{
    const int r = sql != NULL
                      ? sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL)
                      : SQLITE_NOMEM;

    return result_of(r);
}

/* Prepares an INSERT that reads its rows from a module. The name of the module contains tick_name,
 * because each recorder_feed needs its own module. */
static int prepare_feed(const struct recorder_table *table, sqlite3 *database, bool seldom,
                        const char *tick_name, struct recorder_feed *feed)
{
    const char *part = seldom ? "seldom" : "rows";
    char *module = sqlite3_mprintf("camp_%s_%s", tick_name, part);
    char *sql =
        sqlite3_mprintf("INSERT INTO \"%w_%s\" SELECT * FROM %s", table->name, part, module);
    int r = CAMP_E_NOMEM;

    *feed = (struct recorder_feed){ .table = table,
                                    .seldom = seldom,
                                    .count = seldom ? RECORDER_SELDOM_FIRST : RECORDER_ROWS_FIRST };
    feed->columns = calloc(table->columns, sizeof *feed->columns);
    for (size_t i = 0, at = 0; feed->columns != NULL && i < table->columns; i++) {
        if (table->seldom[i] != seldom)
            continue;
        feed->columns[at++] = i;
        feed->count++;
    }
    if (module != NULL && feed->columns != NULL &&
        sqlite3_create_module(database, module, &recorder_feed_module, feed) == SQLITE_OK)
        r = prepare(database, sql, &feed->insert);
    sqlite3_free(module);
    sqlite3_free(sql);
    return r;
}

static int prepare_all(struct recorder_table *table, sqlite3 *database, const char *tick_name)
{
    char *tick = sqlite3_mprintf("INSERT INTO %s VALUES(?" RECORDING_TICK(SQL_PARAMETER)
                                     RECORDING_RANGE(SQL_PARAMETER) ")",
                                 tick_name);
    char *identity = sqlite3_mprintf(
        "INSERT INTO identity VALUES(?, ?, %Q" RECORDING_IDENTITY(SQL_PARAMETER) ", ?)",
        table->name);
    int r = prepare(database, tick, &table->tick);

    if (r == CAMP_OK)
        r = prepare(database, identity, &table->identity);
    if (r == CAMP_OK)
        r = prepare_feed(table, database, false, tick_name, &table->rows);
    if (r == CAMP_OK && has_seldom(table))
        r = prepare_feed(table, database, true, tick_name, &table->seldom_rows);
    sqlite3_free(tick);
    sqlite3_free(identity);
    return r;
}

static const char label_tables[] =
    "CREATE TABLE IF NOT EXISTS label_value(entity INTEGER NOT NULL, position INTEGER NOT NULL,"
    " since_tick INTEGER NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY(entity, position, since_tick)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL,"
    " name TEXT NOT NULL, PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;"
    "CREATE VIEW IF NOT EXISTS label AS SELECT v.entity, n.name, v.since_tick, v.value"
    " FROM label_value AS v CROSS JOIN label_name AS n ON n.position = v.position AND n.table_name"
    " = (SELECT table_name FROM identity WHERE identity.entity = v.entity LIMIT 1);";

static int create_labels(struct recorder_table *table, sqlite3 *database)
{
    const struct schema *schema = table->schema;
    sqlite3_str *sql;
    int r;

    if (schema->label_count == 0)
        return CAMP_OK;
    sql = sqlite3_str_new(database);
    sqlite3_str_appendall(sql, label_tables);
    for (size_t i = 0; i < schema->label_count; i++)
        sqlite3_str_appendf(sql, "INSERT INTO label_name VALUES(%Q, %d, %Q);", table->name, (int)i,
                            schema->label_names[i]);
    r = run(database, sql);
    return r == CAMP_OK
               ? prepare(database, "INSERT INTO label_value VALUES(?, ?, ?, ?)", &table->label)
               : r;
}

/* Appends a column with the last value of a label to the view `entity`. */
static void append_label(sqlite3_str *sql, const char *name)
{
    sqlite3_str_appendf(sql,
                        ", (SELECT nullif(value, '') FROM label_value AS v WHERE v.entity ="
                        " identity.entity AND v.position = (SELECT position FROM label_name AS n"
                        " WHERE n.table_name = identity.table_name AND n.name = %Q)"
                        " ORDER BY v.since_tick DESC LIMIT 1) AS \"%w\"",
                        name, name);
}

/* Of each entity the row with max(since_tick): SQLite takes the other columns from the row of a
 * maximum only if the query has no minimum beside it. */
int recorder_entity_view(const struct recorder_table *tables, size_t count, sqlite3 *database)
{
    sqlite3_str *sql = sqlite3_str_new(database);

    sqlite3_str_appendall(sql, "CREATE VIEW entity AS SELECT entity, max(since_tick) AS since_tick,"
                               " (SELECT min(first.since_tick) FROM identity AS first"
                               " WHERE first.entity = identity.entity) AS first_tick,"
                               " table_name" RECORDING_IDENTITY(SQL_NAME) ", name");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < tables[i].schema->label_count; j++) {
            const char *name = tables[i].schema->label_names[j];

            if (i == 0 || schema_find_label(tables[0].schema, name) == SIZE_MAX)
                append_label(sql, name);
        }
    }
    sqlite3_str_appendall(sql, " FROM identity GROUP BY entity;");
    return run(database, sql);
}

static int find_gauges(struct recorder_table *table)
{
    table->gauges = calloc(table->schema->column_count + 1, sizeof *table->gauges);
    for (size_t i = 0; table->gauges != NULL && i < table->schema->column_count; i++) {
        if (table->schema->columns[i].kind == COLUMN_GAUGE)
            table->gauges[table->gauge_count++] = i;
    }
    return table->gauges != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

int recorder_table_create(struct recorder_table *table, sqlite3 *database, const char *tick_name,
                          const struct frame *frame)
{
    sqlite3_str *sql;
    int r;

    *table = (struct recorder_table){ .schema = frame->schema, .wants_key = true, .next_row = 1 };
    table->columns = frame->schema->column_count + RECORDING_EXTRA_COUNT;
    table->seldom = calloc(table->columns, sizeof *table->seldom);
    table->parts = calloc(table->columns, sizeof *table->parts);
    r = table->seldom != NULL && table->parts != NULL ? name_columns(table) : CAMP_E_NOMEM;
    if (r == CAMP_OK)
        r = find_gauges(table);
    if (r != CAMP_OK)
        return r;
    recording_find_parts(frame, table->parts);
    recording_plan(frame, table->parts, table->seldom);
    sql = sqlite3_str_new(database);
    create_rows(table, sql, false);
    if (has_seldom(table))
        create_rows(table, sql, true);
    create_view(table, tick_name, sql);
    create_view_of_every(table, sql, tick_name);
    describe_columns(table, sql);
    r = run(database, sql);
    if (r == CAMP_OK)
        r = create_labels(table, database);
    return r == CAMP_OK ? prepare_all(table, database, tick_name) : r;
}

static void release_feed(struct recorder_feed *feed)
{
    sqlite3_finalize(feed->insert);
    free(feed->columns);
}

void recorder_table_release(struct recorder_table *table)
{
    release_feed(&table->rows);
    release_feed(&table->seldom_rows);
    sqlite3_finalize(table->tick);
    sqlite3_finalize(table->identity);
    sqlite3_finalize(table->label);
    for (size_t i = 0; table->column_names != NULL && i < table->columns; i++)
        sqlite3_free(table->column_names[i]);
    sqlite3_free(table->name);
    free(table->column_names);
    free(table->seldom);
    free(table->parts);
    free(table->gauges);
    free(table->list);
    free(table->undo);
    free(table->tracked);
    free(table->last_gauges);
    registry_release(&table->registry);
    *table = (struct recorder_table){ 0 };
}
