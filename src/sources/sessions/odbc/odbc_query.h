/* The rows of an SQL query of any database with an ODBC driver. */
#pragma once

#include "sources/from.h"
#include "sources/tables/rows.h"

/* `text` is the result of odbc_text_to_connect(). from->query is the query, and *from->stop ends
 * all waits. The connection asks for read-only access, but not every driver enforces it, so the
 * database user should have no right to write. Errors are those of odbc_connection_open(),
 * odbc_statement_open() and odbc_statement_execute(). */
int odbc_query_open(const char *text, const struct from *from, struct rows **ret,
                    struct camp_error *error);
