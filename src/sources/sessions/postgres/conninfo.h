/* The part of a PostgreSQL connection string that may be shown: where it leads, never a secret. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

/* ret[size]: "host=/run/postgresql dbname=x user=y" of a connection string (key=value words, a URI,
 * or the name of a database), for titles, recordings and messages: host, hostaddr, port, dbname,
 * user and service only. "(hidden)" if the string cannot be read, or if a password may stand in
 * another option (a URI with an unescaped @ or /). "(default)" if none of the options is given. One
 * line without control characters. */
void conninfo_shown(const char *conninfo, char *ret, size_t size);

/* CAMP_E_INVALID: libpq cannot read it. *error names a key that libpq does not know. It does not
 * have libpq's message, which quotes words that may be those of a password with a blank. */
int conninfo_check(const char *conninfo, struct camp_error *error);

/* The text after "postgres:" in --from as libpq reads it: a URI ("//user@host/x") gets its scheme
 * back. The caller frees it; NULL: no memory. */
char *conninfo_of_address(const char *place);
