/* The part of a PostgreSQL connection string that may be shown: the server's address, never a
 * secret. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>
#include <stdint.h>

/* Writes the shown part of a connection string (key=value words, a URI, or the name of a database)
 * to ret[size], such as "host=/run/postgresql dbname=x user=y". Only host, hostaddr, port, dbname,
 * user and service are shown. The result is "(default)" if the string has none of them. It is
 * "(hidden)" if libpq cannot read the string, or if a shown value may contain a part of a password
 * (a URI with an unescaped @ or /). The result is one line without control characters. */
void conninfo_shown(const char *conninfo, char *ret, size_t size);

/* Writes a connection string for the same server, database and user, without passwords. Writes ""
 * if it does not fit, if a part must stay hidden, or if an option is set that is not shown. */
void conninfo_without_secrets(const char *conninfo, char *ret, size_t size);

/* CAMP_E_INVALID if libpq cannot read the string. *error names a key that libpq does not know.
 * libpq's own message is left out, because it quotes words that may belong to a password. */
int conninfo_check(const char *conninfo, struct camp_error *error);

/* Converts the text after "postgres:" in --from to a string that libpq reads: a URI such as
 * "//user@host/x" gets "postgres:" in front again. The caller frees the result. Returns NULL if
 * there is no memory. */
char *conninfo_of_address(const char *place);

/* Returns the time limit of connecting, of connect_timeout or PGCONNECT_TIMEOUT. camp enforces it,
 * because libpq enforces connect_timeout only in blocking calls. */
uint64_t conninfo_limit_ns(const char *conninfo);
