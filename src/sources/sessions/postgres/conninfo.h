/* The part of a PostgreSQL connection string that may be shown: where it leads, never a secret. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* ret[size]: "host=/run/postgresql dbname=x user=y" of a connection string (key=value words, a URI,
 * or the name of a database), for titles, recordings and messages: host, hostaddr, port, dbname,
 * user and service only. "(hidden)" if the string cannot be read, or if a password may stand in
 * another option (a URI with an unescaped @ or /). "(default)" if none of the options is given. One
 * line without control characters. */
void conninfo_shown(const char *conninfo, char *ret, size_t size);

/* Whether libpq can read it. libpq's message is not shown, as it quotes words that may be those of
 * a password with a blank. */
bool conninfo_is_good(const char *conninfo);

/* Finds the first key in `conninfo` that libpq does not know. Sets *ret_key to it and returns its
 * length; 0: none was found. Only the key=value words before a password are searched. */
size_t conninfo_wrong_key(const char *conninfo, const char **ret_key);

/* The text after "postgres:" in --from as libpq reads it: a URI ("//user@host/x") gets its scheme
 * back. The caller frees it; NULL: no memory. */
char *conninfo_of_address(const char *place);
