#include "odbc_connection.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "libraries/libodbc.h"
#include "odbc_failure.h"
#include "odbc_reading.h"
#include "sources/source.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST_SIZE 4096 /* initial size of odbc_statement.texts */
#define NAME_SIZE 256
#define COLUMNS_MOST 1000
#define ROW_BYTES ((size_t)4 * 1024 * 1024) /* most bytes of a row */

struct odbc_connection {
    odbc_handle environment, handle;
    bool is_connected;
};

struct odbc_statement {
    struct odbc_connection *connection;
    odbc_handle handle;
    struct field *fields; /* [count] */
    size_t *offsets;      /* [count] where each field starts in `texts` */
    size_t count;
    char *texts; /* [size] */
    size_t size;
    uint64_t read; /* number of rows read */
};

static bool is_good(int16_t result)
{
    return result == ODBC_SUCCESS || result == ODBC_SUCCESS_WITH_INFO;
}

static void *as_pointer(uintptr_t value)
{
    return (void *)value; /* ODBC passes numbers as pointers */
}

static int connect_to(struct odbc_connection *connection, const char *text,
                      struct camp_error *error)
{
    if (!is_good(libodbc.AllocHandle(ODBC_ENVIRONMENT, NULL, &connection->environment)) ||
        !is_good(libodbc.SetEnvAttr(connection->environment, ODBC_VERSION,
                                    as_pointer(ODBC_VERSION_3), 0)) ||
        !is_good(
            libodbc.AllocHandle(ODBC_CONNECTION, connection->environment, &connection->handle)))
        return camp_fail(error, CAMP_E_NOMEM, 0, "unixODBC gives no connection");
    /* Failures are ignored: a driver that does not know these attributes works without them. */
    libodbc.SetConnectAttr(connection->handle, ODBC_LOGIN_TIMEOUT, as_pointer(ODBC_LOGIN_S), 0);
    libodbc.SetConnectAttr(connection->handle, ODBC_ACCESS_MODE, as_pointer(ODBC_READ_ONLY), 0);
    if (!is_good(libodbc.DriverConnect(connection->handle, NULL, (unsigned char *)text,
                                       ODBC_TEXT_TO_ITS_END, NULL, 0, NULL, ODBC_NEVER_ASK)))
        return odbc_failure_report(ODBC_CONNECTION, connection->handle, error);
    connection->is_connected = true;
    return CAMP_OK;
}

/* Statements after which a session cannot write. A driver may ignore ODBC's own attribute, as that
 * of PostgreSQL does. */
static const struct {
    const char *database, *statement;
} read_only[] = {
    { "PostgreSQL", "set default_transaction_read_only = on" },
    { "MariaDB", "set session transaction read only" },
    { "MySQL", "set session transaction read only" },
    { "SQLite", "pragma query_only = on" },
};

static int execute_once(struct odbc_connection *connection, const char *text,
                        struct camp_error *error)
{
    odbc_handle handle = NULL;
    int r = CAMP_OK;

    if (!is_good(libodbc.AllocHandle(ODBC_STATEMENT, connection->handle, &handle)))
        return odbc_failure_report(ODBC_CONNECTION, connection->handle, error);
    if (!is_good(libodbc.Prepare(handle, (unsigned char *)text, ODBC_TEXT_TO_ITS_END)) ||
        !is_good(libodbc.Execute(handle)))
        r = odbc_failure_report(ODBC_STATEMENT, handle, error);
    libodbc.FreeHandle(ODBC_STATEMENT, handle);
    return r;
}

static int forbid_writing(struct odbc_connection *connection, struct camp_error *error)
{
    char name[NAME_SIZE] = "";
    int16_t length = 0;

    /* The databases of `read_only` have drivers that know their name. */
    if (!is_good(libodbc.GetInfo(connection->handle, ODBC_DATABASE_NAME, name, NAME_SIZE, &length)))
        return CAMP_OK;
    name[NAME_SIZE - 1] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(read_only); i++) {
        if (strcasecmp(name, read_only[i].database) == 0)
            return execute_once(connection, read_only[i].statement, error);
    }
    return CAMP_OK;
}

int odbc_connection_open(const char *text, struct odbc_connection **ret, struct camp_error *error)
{
    struct odbc_connection *connection = calloc(1, sizeof *connection);
    int r;

    if (connection == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a connection");
    r = library_load(&libodbc_library, error);
    if (r == CAMP_OK)
        r = connect_to(connection, text, error);
    if (r == CAMP_OK)
        r = forbid_writing(connection, error);
    if (r != CAMP_OK) {
        odbc_connection_close(connection);
        return r;
    }
    *ret = connection;
    return CAMP_OK;
}

void odbc_connection_close(struct odbc_connection *connection)
{
    if (connection == NULL)
        return;
    if (connection->is_connected)
        libodbc.Disconnect(connection->handle);
    if (connection->handle != NULL)
        libodbc.FreeHandle(ODBC_CONNECTION, connection->handle);
    if (connection->environment != NULL)
        libodbc.FreeHandle(ODBC_ENVIRONMENT, connection->environment);
    free(connection);
}

static int complain_of(const struct odbc_statement *statement, struct camp_error *error)
{
    return odbc_failure_report(ODBC_STATEMENT, statement->handle, error);
}

/* Some drivers know the columns of a result only after executing the statement, so a SELECT without
 * columns may be executed. Any other statement without columns is refused before it is executed,
 * because it may write. */
static bool is_select(const char *text)
{
    static const char word[] = "select";

    text += strspn(text, " \t\r\n(");
    return strncasecmp(text, word, strlen(word)) == 0 &&
           !isalnum((unsigned char)text[strlen(word)]);
}

/* Sets statement->count, and allocates fields and offsets. Called after preparing and again after
 * executing. If `may_lack` is true, a statement without columns is no failure. */
static int count_columns(struct odbc_statement *statement, bool may_lack, struct camp_error *error)
{
    int16_t count = 0;

    if (!is_good(libodbc.NumResultCols(statement->handle, &count)))
        return complain_of(statement, error);
    if (count <= 0 && may_lack)
        return CAMP_OK;
    if (count <= 0)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "it has no result, or is no statement: --query takes one that reads");
    if (count > COLUMNS_MOST)
        return camp_fail(error, CAMP_E_FORMAT, 0, "it has %d columns, and camp reads at most %d",
                         count, COLUMNS_MOST);
    free(statement->fields);
    free(statement->offsets);
    statement->count = (size_t)count;
    statement->fields = calloc(statement->count, sizeof *statement->fields);
    statement->offsets = calloc(statement->count, sizeof *statement->offsets);
    return statement->fields != NULL && statement->offsets != NULL
               ? CAMP_OK
               : camp_fail(error, CAMP_E_NOMEM, 0, "no memory for %zu columns", statement->count);
}

static int prepare(struct odbc_statement *statement, const char *text, unsigned answer_s,
                   struct camp_error *error)
{
    const struct odbc_connection *connection = statement->connection;

    statement->texts = malloc(FIRST_SIZE);
    statement->size = FIRST_SIZE;
    if (statement->texts == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a row");
    if (!is_good(libodbc.AllocHandle(ODBC_STATEMENT, connection->handle, &statement->handle)))
        return odbc_failure_report(ODBC_CONNECTION, connection->handle, error);
    if (answer_s > 0)
        libodbc.SetStmtAttr(statement->handle, ODBC_QUERY_TIMEOUT, as_pointer(answer_s), 0);
    if (!is_good(libodbc.Prepare(statement->handle, (unsigned char *)text, ODBC_TEXT_TO_ITS_END)))
        return complain_of(statement, error);
    return count_columns(statement, is_select(text), error);
}

int odbc_statement_open(struct odbc_connection *connection, const char *text, unsigned answer_s,
                        struct odbc_statement **ret, struct camp_error *error)
{
    int r = odbc_reading_check(text, error);
    struct odbc_statement *statement;

    if (r != CAMP_OK)
        return r;
    statement = calloc(1, sizeof *statement);
    if (statement == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a statement");
    statement->connection = connection;
    r = prepare(statement, text, answer_s, error);
    if (r != CAMP_OK) {
        odbc_statement_close(statement);
        return r;
    }
    *ret = statement;
    return CAMP_OK;
}

void odbc_statement_close(struct odbc_statement *statement)
{
    if (statement == NULL)
        return;
    if (statement->handle != NULL)
        libodbc.FreeHandle(ODBC_STATEMENT, statement->handle);
    free(statement->fields);
    free(statement->offsets);
    free(statement->texts);
    free(statement);
}

int odbc_statement_execute(struct odbc_statement *statement, struct camp_error *error)
{
    int16_t result;

    libodbc.FreeStmt(statement->handle, ODBC_CLOSE_CURSOR);
    statement->read = 0;
    result = libodbc.Execute(statement->handle);
    if (!is_good(result) && result != ODBC_NO_DATA)
        return complain_of(statement, error);
    return count_columns(statement, false, error);
}

/* Returns how much of a value a call of GetData() has written to text[space], and whether more is
 * to come. `length` is the driver's: the length of the value, or of its rest. What is not written
 * is not part of the value, whatever the driver says. Returns 0 for a part without any text, which
 * would follow itself for ever. */
static size_t size_of_part(const char *text, size_t space, odbc_length length, bool *ret_is_last)
{
    *ret_is_last = length >= 0 && (size_t)length < space;
    return strnlen(text, *ret_is_last ? (size_t)length : space - 1);
}

static int complain_of_value(size_t column, const char *what, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "the ODBC driver gives %s for column %zu", what,
                     column + 1);
}

/* Reads a value to statement->texts, after the first *used bytes. Each call of GetData() returns as
 * much of the value as fits, so statement->texts grows until the value is complete. */
static int read_value(struct odbc_statement *statement, size_t column, size_t *used,
                      struct camp_error *error)
{
    const size_t begin = *used;
    bool is_last = false;

    while (!is_last) {
        odbc_length length = 0;
        size_t space, part;
        char *text;
        int16_t result;

        if (*used > ROW_BYTES)
            return complain_of_value(column, "more text than 4 MB", error);
        if (!ARRAY_RESERVE(statement->texts, statement->size, *used + 256))
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a row");
        text = statement->texts + *used;
        space = statement->size - *used;
        text[0] = '\0';
        result = libodbc.GetData(statement->handle, (uint16_t)(column + 1), ODBC_TEXT, text,
                                 (odbc_length)space, &length);
        if (result == ODBC_NO_DATA || (is_good(result) && length == ODBC_NULL))
            break;
        if (!is_good(result))
            return complain_of(statement, error);
        if (length < 0 && length != ODBC_NO_TOTAL)
            return complain_of_value(column, "a negative length", error);
        part = size_of_part(text, space, length, &is_last);
        if (part == 0 && !is_last)
            return complain_of_value(column, "no text", error);
        *used += part;
    }
    statement->offsets[column] = begin;
    statement->fields[column].length = *used - begin;
    return CAMP_OK;
}

static void fill_row(struct odbc_statement *statement, struct row *ret)
{
    for (size_t i = 0; i < statement->count; i++)
        statement->fields[i].text = statement->texts + statement->offsets[i];
    *ret = (struct row){ .number = statement->read,
                         .count = statement->count,
                         .fields = statement->fields };
}

int odbc_statement_names(struct odbc_statement *statement, struct row *ret,
                         struct camp_error *error)
{
    size_t used = 0;

    for (size_t i = 0; i < statement->count; i++) {
        int16_t length = 0, type, digits, nullable;
        uintptr_t size;

        if (!ARRAY_RESERVE(statement->texts, statement->size, used + NAME_SIZE))
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a row");
        statement->texts[used] = '\0';
        if (!is_good(libodbc.DescribeCol(statement->handle, (uint16_t)(i + 1),
                                         (unsigned char *)statement->texts + used, NAME_SIZE,
                                         &length, &type, &size, &digits, &nullable)))
            return complain_of(statement, error);
        statement->offsets[i] = used;
        statement->fields[i].length = strnlen(statement->texts + used, NAME_SIZE - 1);
        used += statement->fields[i].length;
    }
    fill_row(statement, ret);
    return CAMP_OK;
}

int odbc_statement_next(struct odbc_statement *statement, struct row *ret, struct camp_error *error)
{
    const int16_t result = libodbc.Fetch(statement->handle);
    size_t used = 0;
    int r = CAMP_OK;

    if (result == ODBC_NO_DATA)
        return SOURCE_END;
    if (!is_good(result))
        return complain_of(statement, error);
    for (size_t i = 0; r == CAMP_OK && i < statement->count; i++)
        r = read_value(statement, i, &used, error);
    if (r != CAMP_OK)
        return r;
    statement->read++;
    fill_row(statement, ret);
    return CAMP_OK;
}
