/*
 * A connection through ODBC, and statements that only read. Every call blocks as long as the driver
 * does: see odbc_thread.h.
 */
#pragma once

#include "sources/tables/rows.h"

#define ODBC_LOGIN_S 10 /* requested login timeout; some drivers ignore it */
#define ODBC_ANSWER_S 5

struct odbc_connection;

/* `text` is the result of odbc_text_to_connect(). CAMP_E_NOTSUP (no unixODBC), CAMP_E_INVALID (no
 * such data source or driver), CAMP_E_PERM (refused), CAMP_E_GONE (no database there), CAMP_E_IO;
 * the message has the SQLSTATE, and what to do. */
int odbc_connection_open(const char *text, struct odbc_connection **ret, struct camp_error *error);
void odbc_connection_close(struct odbc_connection *connection);

struct odbc_statement;

/* `answer_s`: the driver's timeout; 0: none. CAMP_E_INVALID: the database refuses the statement;
 * otherwise as odbc_connection_open(). Close a statement before its connection. */
int odbc_statement_open(struct odbc_connection *connection, const char *text, unsigned answer_s,
                        struct odbc_statement **ret, struct camp_error *error);
void odbc_statement_close(struct odbc_statement *statement);

/* Executes the statement, possibly again; CAMP_E_INVALID also if it has no columns. */
int odbc_statement_execute(struct odbc_statement *statement, struct camp_error *error);

/* Read the names of the columns, and the next row: CAMP_OK or SOURCE_END; valid until the next
 * call. Values are texts made by the driver; NULL is an empty text. */
int odbc_statement_names(struct odbc_statement *statement, struct row *ret,
                         struct camp_error *error);
int odbc_statement_next(struct odbc_statement *statement, struct row *ret,
                        struct camp_error *error);
