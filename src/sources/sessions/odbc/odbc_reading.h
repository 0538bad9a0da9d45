/* Whether a statement only reads. The database itself decides that where it can
 * (odbc_connection.h); this is for the others, and prevents mistakes: it recognises neither a
 * function that writes, nor a part of WITH that writes, nor SELECT ... INTO. */
#pragma once

#include <camp/camp.h>

/* Returns CAMP_E_INVALID, with a message that has the first word, unless `text` is one statement
 * that begins with a word that reads, such as SELECT or WITH. */
int odbc_reading_check(const char *text, struct camp_error *error);
