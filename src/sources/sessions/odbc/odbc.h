/* The source odbc:DSN or odbc:DRIVER=...;... (docs/sessions.md): the sessions of an Oracle database
 * (oracle.h), or with --query the result of a query of any database. */
#pragma once

#include "sources/from.h"

/* `text` is the text after "odbc:". Reads CAMP_ODBC_USER and CAMP_ODBC_PASSWORD from the
 * environment. Errors are those of odbc_connection.h. */
int odbc_source_open(const struct from *from, const char *text, struct source **ret,
                     struct from_facts *facts, struct camp_error *error);
