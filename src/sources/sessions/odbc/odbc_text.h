/* The text after odbc: on the command line: the name of a data source, or a connection string. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

#define ODBC_TEXT_SIZE 2048

/* Writes the connection string for the driver manager: "DSN=NAME", or the text itself, with UID and
 * PWD from `user` and `password` (NULL: none) unless the text has its own. It holds secrets. False:
 * too long, or a value that cannot be quoted. */
bool odbc_text_to_connect(const char *text, const char *user, const char *password,
                          char ret[ODBC_TEXT_SIZE]);

/* CAMP_E_INVALID: the text is neither a name nor a complete connection string. The message
 * identifies the wrong part by its position, and by its key unless the key may be the rest of a
 * secret. Unknown keys are left to the driver. */
int odbc_text_check(const char *text, struct camp_error *error);

/* Writes the parts of the text that may be shown and recorded to ret[size]: DSN, FILEDSN, DRIVER,
 * SERVER, SERVERNAME, HOST, PORT, DATABASE and DBQ only. A value is left out if it has an @, which
 * may follow a password, or a =, which may follow a forgotten ;. Writes "(hidden)" if no part is
 * left, or the text is neither a name nor a connection string. */
void odbc_text_shown(const char *text, char *ret, size_t size);
