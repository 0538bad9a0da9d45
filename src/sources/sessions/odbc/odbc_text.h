/* The text after "odbc:": the name of a data source, or a connection string. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

#define ODBC_TEXT_SIZE 2048

/* Writes the connection string for the driver manager: "DSN=NAME", or the text itself. Adds UID
 * from `user` and PWD from `password`, unless the argument is NULL or the text has that key
 * already. The result holds secrets. Returns false if the result is too long. */
bool odbc_text_to_connect(const char *text, const char *user, const char *password,
                          char ret[ODBC_TEXT_SIZE]);

/* Returns CAMP_E_INVALID if the text is neither a name nor a complete connection string. The
 * message has the number of the wrong part, and also its key, unless the key may be a piece of a
 * secret. An unknown key is no failure here, because only the driver knows its keys. */
int odbc_text_check(const char *text, struct camp_error *error);

/* Writes the parts of the text that may be shown and recorded: DSN, FILEDSN, DRIVER, SERVER,
 * SERVERNAME, HOST, PORT, DATABASE and DBQ. A value with an '@' is left out, because it may contain
 * a password. A value with a '=' is left out, because a missing ';' may have joined it with a
 * secret. Writes "(hidden)" if no part is left, or if the text is neither a name nor a connection
 * string. */
void odbc_text_shown(const char *text, char *ret, size_t size);
