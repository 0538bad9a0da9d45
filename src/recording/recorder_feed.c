/*
 * Presents the rows of an interval to SQLite as a virtual table (sqlite.org, The Virtual Table
 * Mechanism), so that one INSERT with SELECT writes all of them. A statement for each row would
 * take 2.4 us per row, half of it for starting and ending the statement.
 *
 * The virtual table needs no CREATE statement: the SELECT uses the name of the module. The columns
 * are those of the SQL table that is written (struct recorder_feed).
 */
#include "recorder_table.h"

#include <stdlib.h>

struct feed_cursor {
    sqlite3_vtab_cursor base; /* This member must be first, because SQLite has a pointer to it. */
    size_t at;                /* index in recorder_table.list */
};

struct feed_table {
    sqlite3_vtab base; /* This member must be first, because SQLite has a pointer to it. */
    const struct recorder_feed *feed;
};

static int connect(sqlite3 *database, void *context, int count, const char *const *arguments,
                   sqlite3_vtab **ret, char **ret_problem)
{
    const struct recorder_feed *feed = context;
    struct feed_table *table = sqlite3_malloc(sizeof *table);
    sqlite3_str *sql = sqlite3_str_new(database);
    char *text;
    int r;

    (void)count, (void)arguments, (void)ret_problem;
    sqlite3_str_appendall(sql, "CREATE TABLE x(c0");
    for (size_t i = 1; i < feed->count; i++)
        sqlite3_str_appendf(sql, ", c%d", (int)i);
    sqlite3_str_appendall(sql, ")");
    text = sqlite3_str_finish(sql);
    r = table != NULL && text != NULL ? sqlite3_declare_vtab(database, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (r != SQLITE_OK) {
        sqlite3_free(table);
        return r;
    }
    *table = (struct feed_table){ .feed = feed };
    *ret = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* SQLite needs a cost estimate, although it can only read all rows in order. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
    struct feed_cursor *cursor = sqlite3_malloc(sizeof *cursor);

    (void)table;
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor = (struct feed_cursor){ 0 };
    *ret = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static const struct recorder_feed *feed_of(const sqlite3_vtab_cursor *cursor)
{
    return ((const struct feed_table *)cursor->pVtab)->feed;
}

static int64_t value_of(const struct recorder_feed *feed, size_t index, size_t at)
{
    const struct recorder_table *table = feed->table;
    const struct recorder_row *row = &table->list[index];
    const size_t first = feed->seldom ? RECORDER_SELDOM_FIRST : RECORDER_ROWS_FIRST;
    size_t column;

    if (at < first)
        return at == 0 ? table->next_row + (int64_t)index : at == 1 ? row->number : row->flags;
    column = feed->columns[at - first];
    return (int64_t)(row->row == SIZE_MAX
                         ? recording_usual(table->schema, column)
                         : recording_value(table->frame, row->row, column, table->parts));
}

/* Returns whether the row needs a row in NAME_seldom. */
static bool has_seldom(const struct recorder_feed *feed, const struct recorder_row *row)
{
    const struct recorder_table *table = feed->table;

    for (size_t i = 0; row->row != SIZE_MAX && i < feed->count - RECORDER_SELDOM_FIRST; i++) {
        if (recording_value(table->frame, row->row, feed->columns[i], table->parts) !=
            recording_usual(table->schema, feed->columns[i]))
            return true;
    }
    return false;
}

static void skip_rows(struct feed_cursor *cursor)
{
    const struct recorder_feed *feed = feed_of(&cursor->base);

    while (feed->seldom && cursor->at < feed->table->list_count &&
           !has_seldom(feed, &feed->table->list[cursor->at]))
        cursor->at++;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                  sqlite3_value **values)
{
    struct feed_cursor *cursor = (struct feed_cursor *)base;

    (void)number, (void)text, (void)count, (void)values;
    cursor->at = 0;
    skip_rows(cursor);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct feed_cursor *cursor = (struct feed_cursor *)base;

    cursor->at++;
    skip_rows(cursor);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return ((struct feed_cursor *)base)->at >= feed_of(base)->table->list_count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int at)
{
    const struct recorder_feed *feed = feed_of(base);
    const size_t row = ((struct feed_cursor *)base)->at;

    sqlite3_result_int64(context, value_of(feed, row, (size_t)at));
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((struct feed_cursor *)base)->at;
    return SQLITE_OK;
}

const sqlite3_module recorder_feed_module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_id,
};
