/* The part of a PostgreSQL connection string that may be shown: where it leads, never a secret. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

/* Writes the part of a connection string (key=value words, a URI, or the name of a database) that
 * titles, recordings and messages show to ret[size]: "host=/run/postgresql dbname=x user=y", with
 * host, hostaddr, port, dbname, user and service only. "(hidden)" if the string cannot be read, or
 * if a part of a password may be in another option (a URI with an unescaped @ or /). "(default)" if
 * none of the options is given. One line without control characters. */
void conninfo_shown(const char *conninfo, char *ret, size_t size);

/* CAMP_E_INVALID: libpq cannot read it. *error names a key that libpq does not know. It does not
 * contain libpq's message, which quotes words that may belong to a password with a blank. */
int conninfo_check(const char *conninfo, struct camp_error *error);

/* Returns the text after "postgres:" in --from in the form that libpq reads: a URI
 * ("//user@host/x") gets its scheme back. The caller frees it; NULL: no memory. */
char *conninfo_of_address(const char *place);
