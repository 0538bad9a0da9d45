/* Removes the literals of an SQL text, for an example of a statement that shows no private data. */
#pragma once

#include <stddef.h>

/* What is a string, a name and a comment. STATEMENT_MYSQL is also of MariaDB, without the SQL modes
 * ANSI_QUOTES and NO_BACKSLASH_ESCAPES: with the first one, names in double quotes are taken for
 * strings. STATEMENT_MYSQL_ANY_MODE is of a session whose SQL mode and version are unknown: where
 * these decide what is a string, the rest of the text is taken for one literal. */
enum statement_dialect { STATEMENT_POSTGRES, STATEMENT_MYSQL, STATEMENT_MYSQL_ANY_MODE };

/* Writes `sql` to ret[size] with ? in place of each number, string and dollar-quoted string, one
 * blank in place of comments and white space, and a NUL. Names, also those in quotes, and
 * parameters such as $1 stay. In MySQL's dialects a sign that belongs to a number goes with it, as
 * in the server's digests. `sql` may be cut anywhere and have any bytes; a literal without an end
 * lasts to the end of the text. `size` must be at least 1. */
void statement_text_without_literals(enum statement_dialect dialect, const char *sql, char *ret,
                                     size_t size);
