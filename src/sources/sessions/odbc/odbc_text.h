/* What follows odbc: on the command line: a data source's name, or a connection string. */
#ifndef CAMP_SOURCES_SESSIONS_ODBC_ODBC_TEXT_H
#define CAMP_SOURCES_SESSIONS_ODBC_ODBC_TEXT_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

#define ODBC_TEXT_SIZE 2048

/* What the driver manager gets: "DSN=NAME", or the string itself; with UID and PWD of `user` and
 * `password` (NULL: none) where it does not say its own. False: too long, or a value that cannot be
 * written. It holds secrets. */
bool odbc_text_to_connect(const char *text, const char *user, const char *password,
                          char ret[ODBC_TEXT_SIZE]);

/* CAMP_E_INVALID: the text is neither a name nor a complete connection string. The message names
 * the wrong part by its number, and by its key where the key cannot be the rest of a secret. A key
 * that the driver does not know is refused by the driver. */
int odbc_text_check(const char *text, struct camp_error *error);

/* What may be shown of it and recorded, in ret[size]: where it leads to, of DSN, FILEDSN, DRIVER,
 * SERVER, SERVERNAME, HOST, PORT, DATABASE and DBQ alone; nothing of a value with an @, before
 * which a password may stand, or a =, where a ; may have been forgotten. "(hidden)": it says none
 * of them, or is neither a name nor a string. */
void odbc_text_shown(const char *text, char *ret, size_t size);

/* Whether a connection string says `key`, whatever the case. */
bool odbc_text_has(const char *text, const char *key);

#endif
