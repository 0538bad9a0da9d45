/* The text after "odbc:": the name of a data source, or a connection string. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

#define ODBC_TEXT_SIZE 2048

/* Writes the connection string for the driver manager: "DSN=NAME", or the text itself. UID and PWD
 * are added from `user` and `password`, unless these are NULL or the text has its own. The result
 * holds secrets. Returns false if the result is too long. */
bool odbc_text_to_connect(const char *text, const char *user, const char *password,
                          char ret[ODBC_TEXT_SIZE]);

/* Returns CAMP_E_INVALID if the text is neither a name nor a complete connection string. The
 * message identifies the wrong part by its number. It also has the key of the part, unless the key
 * may be the rest of a secret. The driver checks whether it knows the keys. */
int odbc_text_check(const char *text, struct camp_error *error);

/* Writes the parts of the text that may be shown and recorded: DSN, FILEDSN, DRIVER, SERVER,
 * SERVERNAME, HOST, PORT, DATABASE and DBQ. A value with an @ is left out, because it may contain a
 * password. A value with a = is left out, because a ';' before a secret may be missing. Writes
 * "(hidden)" if no part is left, or the text is neither a name nor a connection string. */
void odbc_text_shown(const char *text, char *ret, size_t size);
