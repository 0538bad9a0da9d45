#include "recording_info.h"

#include "recording_file.h"

#include <stdio.h>
#include <string.h>

static void read_texts(struct recording_info *info, sqlite3 *database, const char *path)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } facts[] = {
        { "source", info->source, sizeof info->source },
        { "kind", info->kind, sizeof info->kind },
        { "tier", info->tier, sizeof info->tier },
        { "host", info->host, sizeof info->host },
        { "kernel", info->kernel, sizeof info->kernel },
        { "version", info->version, sizeof info->version },
        { "schema", info->schema, sizeof info->schema },
        { "table", info->table, sizeof info->table },
        { "beside", info->beside, sizeof info->beside },
        { "note", info->note, sizeof info->note },
    };

    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        recording_file_fact(database, path, facts[i].key, facts[i].text, facts[i].size, NULL);
}

/* -1 stays where it cannot be asked for. */
static void ask(sqlite3 *database, const char *path, const char *sql, int64_t parameter,
                int64_t *ret)
{
    int64_t number;

    if (recording_file_number(database, path, sql, parameter, &number, NULL) == CAMP_OK)
        *ret = number;
}

static void read_times(struct recording_info *info, sqlite3 *database, const char *path)
{
    ask(database, path, "SELECT count(*) FROM tick", 0, &info->intervals);
    if (info->intervals == 0)
        return;
    ask(database, path,
        "SELECT wall_clock_ns - (end_ns - start_ns) FROM tick ORDER BY tick LIMIT 1", 0,
        &info->begin_ns);
    ask(database, path, "SELECT wall_clock_ns FROM tick ORDER BY tick DESC LIMIT 1", 0,
        &info->end_ns);
    ask(database, path,
        "SELECT end_ns - start_ns AS length FROM tick ORDER BY length "
        "LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM tick)",
        0, &info->usual_ns);
    ask(database, path,
        "SELECT count(*) FROM (SELECT start_ns - lag(end_ns) OVER (ORDER BY tick) AS gap, "
        "end_ns - start_ns AS length FROM tick) WHERE gap < 0 OR gap > ?1 / 2 OR length > 2 * ?1",
        info->usual_ns, &info->gaps);
}

/* 16: only that it is gone. */
static void read_rows(struct recording_info *info, sqlite3 *database, const char *path)
{
    char *sql =
        sqlite3_mprintf("SELECT count(*) FROM \"%w_rows\" WHERE flags & 16 = 0", info->table);

    if (sql != NULL)
        ask(database, path, sql, 0, &info->rows);
    sqlite3_free(sql);
    sql = sqlite3_mprintf("SELECT count(DISTINCT entity) FROM identity WHERE table_name = %Q",
                          info->table);
    if (sql != NULL)
        ask(database, path, sql, 0, &info->entities);
    sqlite3_free(sql);
}

int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error)
{
    sqlite3 *database = NULL;
    int r = recording_file_open(&database, path, error);

    *ret = (struct recording_info){ .begin_ns = -1,
                                    .end_ns = -1,
                                    .intervals = -1,
                                    .usual_ns = -1,
                                    .entities = -1,
                                    .rows = -1,
                                    .gaps = -1 };
    if (r == CAMP_OK) {
        ret->is_cut = recording_file_ends_early(path);
        read_texts(ret, database, path);
        if (ret->kind[0] == '\0')
            snprintf(ret->kind, sizeof ret->kind, "%s", ret->table);
        read_times(ret, database, path);
        read_rows(ret, database, path);
        if (ret->table[0] == '\0')
            r = recording_file_fail_empty(path, error);
    }
    sqlite3_close(database);
    return r;
}
