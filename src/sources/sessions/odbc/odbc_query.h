/* The rows of an SQL query of any database that ODBC leads to. */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ODBC_QUERY_H
#define CAMP_SOURCES_SESSIONS_ODBC_ODBC_QUERY_H

#include "sources/from.h"
#include "sources/tables/rows.h"

/* `text` is what odbc_text_to_connect() wrote. The connection asks for read only access, which not
 * every driver keeps: it is the user's rights that make sure of it. Of *from, query and stop are
 * looked at. Failures as odbc_connection_open(), and of the statement. */
int odbc_query_open(const char *text, const struct from *from, struct rows **ret,
                    struct camp_error *error);

#endif
