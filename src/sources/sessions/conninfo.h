/* What may be shown of a connection string of PostgreSQL: where it leads to, and never a secret. */
#ifndef CAMP_SOURCES_SESSIONS_CONNINFO_H
#define CAMP_SOURCES_SESSIONS_CONNINFO_H

#include <stddef.h>

/* ret[size]: "host=/run/postgresql dbname=x user=y" of a connection string (key=value words, a
 * URI, or a database's name), for titles, recordings and messages: host, hostaddr, port, dbname,
 * user and service alone, of whatever else it says nothing is shown. Of one that cannot be read, or
 * in which a password may have been written in another's place (a URI with an unescaped @ or /),
 * nothing at all: "(hidden)". Of one that says none of them "(default)". One line without control
 * characters. */
void conninfo_shown(const char *conninfo, char *ret, size_t size);

#endif
