/*
 * A connection through ODBC, and statements that only read. Every function blocks for as long as
 * the driver does; remote_thread.h keeps the caller from blocking.
 */
#pragma once

#include "sources/tables/rows.h"

#define ODBC_LOGIN_S 10 /* requested login timeout; some drivers ignore it */
#define ODBC_ANSWER_S 5

struct odbc_connection;

/* `text` is the result of odbc_text_to_connect(). The connection cannot write where the driver
 * keeps ODBC's read-only mode, or where the database is PostgreSQL, MariaDB, MySQL or SQLite, in
 * which a statement sets the session to read only. Returns CAMP_E_NOTSUP (no unixODBC),
 * CAMP_E_INVALID (no such data source or driver), CAMP_E_PERM (refused), CAMP_E_GONE (no database
 * there) or CAMP_E_IO. The message has the SQLSTATE and says what to do. */
int odbc_connection_open(const char *text, struct odbc_connection **ret, struct camp_error *error);
void odbc_connection_close(struct odbc_connection *connection);

struct odbc_statement;

/* Prepares a statement. `answer_s` is the timeout that the driver is asked for; 0 means none.
 * Returns CAMP_E_INVALID if the database refuses the statement; other errors are those of
 * odbc_connection_open(). The statement must be closed before its connection. */
int odbc_statement_open(struct odbc_connection *connection, const char *text, unsigned answer_s,
                        struct odbc_statement **ret, struct camp_error *error);
void odbc_statement_close(struct odbc_statement *statement);

/* May be called several times. Returns CAMP_E_INVALID also if the result has no columns. */
int odbc_statement_execute(struct odbc_statement *statement, struct camp_error *error);

/* odbc_statement_names() reads the names of the columns, and odbc_statement_next() reads the next
 * row, or returns SOURCE_END after the last row. *ret is valid until the next call of either
 * function. Values are texts made by the driver; NULL becomes an empty text. */
int odbc_statement_names(struct odbc_statement *statement, struct row *ret,
                         struct camp_error *error);
int odbc_statement_next(struct odbc_statement *statement, struct row *ret,
                        struct camp_error *error);
