/*
 * Labels in a recording: the tables `label` and `label_name`, which a file has when a source has
 * labels, and the view `entity`, in which each is a column. A label is written when it is another
 * than the file says: of a session that goes from query to query that is one row, not all its
 * labels.
 */
#include "recorder_table.h"

#include <string.h>

static const char label_tables[] =
    "CREATE TABLE IF NOT EXISTS label(entity INTEGER NOT NULL, name TEXT NOT NULL,"
    " since_tick INTEGER NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY(entity, name, since_tick)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL,"
    " name TEXT NOT NULL, PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;";

int recorder_labels_create(struct recorder_table *table, sqlite3 *database)
{
    const struct schema *schema = table->schema;
    sqlite3_str *sql;
    char *text;
    int r;

    if (schema->label_count == 0)
        return CAMP_OK;
    sql = sqlite3_str_new(database);
    sqlite3_str_appendall(sql, label_tables);
    for (size_t i = 0; i < schema->label_count; i++)
        sqlite3_str_appendf(sql, "INSERT INTO label_name VALUES(%Q, %d, %Q);", table->name, (int)i,
                            schema->label_names[i]);
    text = sqlite3_str_finish(sql);
    r = text != NULL ? sqlite3_exec(database, text, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (r == SQLITE_OK)
        r = sqlite3_prepare_v3(database, "INSERT INTO label VALUES(?, ?, ?, ?)", -1,
                               SQLITE_PREPARE_PERSISTENT, &table->label, NULL);
    return r == SQLITE_OK ? CAMP_OK : CAMP_E_IO;
}

/* A column of the view: the last value that was written. */
static void append_label(sqlite3_str *sql, const char *name)
{
    sqlite3_str_appendf(sql,
                        ", (SELECT nullif(value, '') FROM label WHERE label.entity ="
                        " identity.entity AND label.name = %Q ORDER BY label.since_tick DESC"
                        " LIMIT 1) AS \"%w\"",
                        name, name);
}

static bool has_label(const struct recorder_table *table, const char *name)
{
    for (size_t i = 0; i < table->schema->label_count; i++) {
        if (strcmp(table->schema->label_names[i], name) == 0)
            return true;
    }
    return false;
}

int recorder_entity_view(const struct recorder_table *tables, size_t count, sqlite3 *database)
{
    sqlite3_str *sql = sqlite3_str_new(database);
    char *text;
    int r;

    sqlite3_str_appendall(
        sql, "CREATE VIEW entity AS SELECT entity, max(since_tick) AS since_tick,"
             " min(since_tick) AS first_tick, table_name, id, pid, parent, uid, cgroup, kernel,"
             " name");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < tables[i].schema->label_count; j++) {
            const char *name = tables[i].schema->label_names[j];

            if (i == 0 || !has_label(&tables[0], name))
                append_label(sql, name);
        }
    }
    sqlite3_str_appendall(sql, " FROM identity GROUP BY entity;");
    text = sqlite3_str_finish(sql);
    r = text != NULL ? sqlite3_exec(database, text, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    return r == SQLITE_OK ? CAMP_OK : CAMP_E_IO;
}

int recorder_labels_write(struct recorder_table *table, int64_t tick, uint32_t number,
                          const struct labels *before, const struct labels *now)
{
    int r = CAMP_OK;

    for (size_t i = 0; before != now && i < table->schema->label_count && r == CAMP_OK; i++) {
        const char *value = labels_value(now, i);

        if (strcmp(labels_value(before, i), value) == 0)
            continue;
        sqlite3_bind_int64(table->label, 1, number);
        sqlite3_bind_text(table->label, 2, table->schema->label_names[i], -1, SQLITE_STATIC);
        sqlite3_bind_int64(table->label, 3, tick);
        sqlite3_bind_text(table->label, 4, value, -1, SQLITE_STATIC); /* it stays for ever */
        sqlite3_step(table->label);
        r = sqlite3_reset(table->label) == SQLITE_OK ? CAMP_OK : CAMP_E_IO;
    }
    return r;
}
