/* What may be shown of a connection string of PostgreSQL: where it leads to, and never a secret. */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_CONNINFO_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_CONNINFO_H

#include <stdbool.h>
#include <stddef.h>

/* ret[size]: "host=/run/postgresql dbname=x user=y" of a connection string (key=value words, a
 * URI, or a database's name), for titles, recordings and messages: host, hostaddr, port, dbname,
 * user and service alone, of whatever else it says nothing is shown. Of one that cannot be read, or
 * in which a password may have been written in another's place (a URI with an unescaped @ or /),
 * nothing at all: "(hidden)". Of one that says none of them "(default)". One line without control
 * characters. */
void conninfo_shown(const char *conninfo, char *ret, size_t size);

/* Whether libpq can read it. Why not is nobody's to see: its message has the words it stumbles
 * over, which may be those of a password with a blank. */
bool conninfo_is_good(const char *conninfo);

/* Finds the first key in `conninfo` that libpq does not know. Sets *ret_key to it and returns its
 * length; 0: none was found. Only the key=value words before a password are searched. */
size_t conninfo_wrong_key(const char *conninfo, const char **ret_key);

/* What stands behind "postgres:" in --from, as libpq takes it: of a URI ("//user@host/x") its
 * scheme is put back. The caller frees it; NULL: no memory. */
char *conninfo_of_place(const char *place);

#endif
