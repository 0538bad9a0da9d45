/*
 * A connection through ODBC, and statements that read. All of it waits for as long as the driver
 * does: see odbc_thread.h.
 */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ODBC_CONNECTION_H
#define CAMP_SOURCES_SESSIONS_ODBC_ODBC_CONNECTION_H

#include "sources/tables/rows.h"

#define ODBC_LOGIN_S 10 /* what a driver is asked to give up after; not all do */
#define ODBC_ANSWER_S 5

struct odbc_connection;

/* `text` is what odbc_text_to_connect() wrote. Failures: CAMP_E_NOTSUP (no unixODBC),
 * CAMP_E_INVALID (no such data source or driver), CAMP_E_PERM (who may not), CAMP_E_GONE (nobody
 * there), CAMP_E_IO; the message has the SQLSTATE, and what to do. */
int odbc_connection_open(const char *text, struct odbc_connection **ret, struct camp_error *error);
void odbc_connection_close(struct odbc_connection *connection);

struct odbc_statement;

/* `answer_s`: after which the driver is to give up; 0: never. CAMP_E_INVALID: the database does not
 * take the statement; otherwise as above. Closed before its connection is. */
int odbc_statement_open(struct odbc_connection *connection, const char *text, unsigned answer_s,
                        struct odbc_statement **ret, struct camp_error *error);
void odbc_statement_close(struct odbc_statement *statement);

/* Executes it, once more if need be; CAMP_E_INVALID as well when it has no columns. */
int odbc_statement_execute(struct odbc_statement *statement, struct camp_error *error);

/* The names of its columns, and the next row: CAMP_OK or SOURCE_END; theirs until the next call. A
 * value is the text that the driver makes of it; of NULL an empty one. */
int odbc_statement_names(struct odbc_statement *statement, struct row *ret,
                         struct camp_error *error);
int odbc_statement_next(struct odbc_statement *statement, struct row *ret,
                        struct camp_error *error);

#endif
