#include "rows.h"

#include "counters/error.h"
#include "sources/foreign_database.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MOST ((size_t)1024 * 1024 * 1024)

struct query {
    struct rows rows; /* must be the first member */
    sqlite3 *database;
    struct foreign_watch watch; /* without a limit: a query of the user may take long */
    sqlite3_stmt *statement;
    struct field *fields; /* [count] */
    size_t count;
    uint64_t read; /* number of rows read, without the header */
    bool is_begun;
};

static int complain(struct query *query, struct camp_error *error, int code)
{
    return camp_fail(error, code, 0, "SQLite: %s", sqlite3_errmsg(query->database));
}

static void name_columns(struct query *query)
{
    for (size_t i = 0; i < query->count; i++) {
        const char *name = sqlite3_column_name(query->statement, (int)i);

        query->fields[i].text = name != NULL ? name : "";
        query->fields[i].length = strlen(query->fields[i].text);
    }
}

/* Reads every value as text; NULL becomes an empty text. */
static void read_columns(struct query *query)
{
    for (size_t i = 0; i < query->count; i++) {
        const unsigned char *text = sqlite3_column_text(query->statement, (int)i);

        query->fields[i].text = text != NULL ? (const char *)text : "";
        query->fields[i].length =
            text != NULL ? (size_t)sqlite3_column_bytes(query->statement, (int)i) : 0;
    }
}

static int next(struct rows *rows, struct row *ret, struct camp_error *error)
{
    struct query *query = (struct query *)rows;

    *ret = (struct row){ .count = query->count, .fields = query->fields };
    if (!query->is_begun) {
        query->is_begun = true;
        name_columns(query);
        return CAMP_OK;
    }
    switch (sqlite3_step(query->statement)) {
    case SQLITE_ROW:
        read_columns(query);
        ret->number = ++query->read;
        return CAMP_OK;
    case SQLITE_DONE:
        return SOURCE_END;
    default:
        return complain(query, error, CAMP_E_IO);
    }
}

static void close_query(struct rows *rows)
{
    struct query *query = (struct query *)rows;

    sqlite3_finalize(query->statement);
    sqlite3_close(query->database);
    free(query->fields);
    free(query);
}

static int prepare(struct query *query, const char *text, struct camp_error *error)
{
    const char *rest = "";

    if (sqlite3_prepare_v2(query->database, text, -1, &query->statement, &rest) != SQLITE_OK)
        return complain(query, error, CAMP_E_INVALID);
    if (query->statement == NULL || rest[strspn(rest, "; \t\r\n")] != '\0')
        return camp_fail(error, CAMP_E_INVALID, 0, "--query takes one statement");
    query->count = (size_t)sqlite3_column_count(query->statement);
    if (!sqlite3_stmt_readonly(query->statement) || query->count == 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "--query takes a statement that reads: \"select time, entity, ...\"");
    query->fields = calloc(query->count, sizeof *query->fields);
    return query->fields != NULL ? CAMP_OK
                                 : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the query");
}

int query_rows_open(const char *path, const char *text, const struct from *from, struct rows **ret,
                    struct camp_error *error)
{
    struct query *query = calloc(1, sizeof *query);
    int r;

    if (query == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the query");
    query->rows = (struct rows){ next, close_query, "row", BYTES_MOST };
    query->watch.stop = from->stop;
    r = foreign_file_check(path, error);
    if (r != CAMP_OK) {
        close_query(&query->rows);
        return r;
    }
    if (foreign_database_open(&query->database, path, 0, &query->watch) != SQLITE_OK) {
        const int system_error = sqlite3_system_errno(query->database);

        r = camp_fail(error, CAMP_E_IO, system_error, "%s: %s", path,
                      system_error != 0 ? strerror(system_error) : sqlite3_errmsg(query->database));
    } else {
        r = prepare(query, text, error);
    }
    if (r != CAMP_OK) {
        close_query(&query->rows);
        return r;
    }
    *ret = &query->rows;
    return CAMP_OK;
}
