#include "rows.h"

#include "counters/error.h"
#include "sources/foreign_database.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MOST ((size_t)1024 * 1024 * 1024)

struct query {
    struct rows rows; /* must be the first member */
    const char *path;
    sqlite3 *database;
    struct foreign_watch watch; /* without a limit: a query of the user may take long */
    sqlite3_stmt *statement;
    struct field *fields; /* [count] */
    size_t count;
    uint64_t read; /* number of rows read, without the header */
    bool is_begun;
};

/* `result` is that of a wrong statement. The lack of memory and a file that cannot be read are no
 * fault of the statement. */
static int complain(struct query *query, struct camp_error *error, int result)
{
    const int code = sqlite3_errcode(query->database) & 0xff;

    if (code == SQLITE_NOMEM)
        result = CAMP_E_NOMEM;
    else if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        result = CAMP_E_FORMAT;
    else if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_BUSY)
        result = CAMP_E_IO;
    else
        return camp_fail(error, result, 0, "SQLite: %s", sqlite3_errmsg(query->database));
    return camp_fail(error, result, 0, "%s: %s", query->path, sqlite3_errmsg(query->database));
}

static int name_columns(struct query *query, struct camp_error *error)
{
    for (size_t i = 0; i < query->count; i++) {
        const char *name = sqlite3_column_name(query->statement, (int)i);

        if (name == NULL)
            return complain(query, error, CAMP_E_NOMEM);
        query->fields[i].text = name;
        query->fields[i].length = strlen(name);
    }
    return CAMP_OK;
}

/* Reads every value as text; NULL becomes an empty text. */
static int read_columns(struct query *query, struct camp_error *error)
{
    for (size_t i = 0; i < query->count; i++) {
        const bool is_null = sqlite3_column_type(query->statement, (int)i) == SQLITE_NULL;
        const unsigned char *text = sqlite3_column_text(query->statement, (int)i);

        if (text == NULL && !is_null)
            return complain(query, error, CAMP_E_NOMEM);
        query->fields[i].text = text != NULL ? (const char *)text : "";
        query->fields[i].length =
            text != NULL ? (size_t)sqlite3_column_bytes(query->statement, (int)i) : 0;
    }
    return CAMP_OK;
}

static int next(struct rows *rows, struct row *ret, struct camp_error *error)
{
    struct query *query = (struct query *)rows;

    *ret = (struct row){ .count = query->count, .fields = query->fields };
    if (!query->is_begun) {
        query->is_begun = true;
        return name_columns(query, error);
    }
    switch (sqlite3_step(query->statement)) {
    case SQLITE_ROW:
        ret->number = ++query->read;
        return read_columns(query, error);
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
    query->path = path;
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
