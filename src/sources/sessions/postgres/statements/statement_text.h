/* Removes the literals of an SQL text, for an example of a statement that shows no private data. */
#pragma once

#include <stddef.h>

/* Writes `sql` to ret[size] with ? in place of each number, string and dollar-quoted string, one
 * blank in place of comments and white space, and a NUL. Names, also those in double quotes, and
 * parameters such as $1 stay. `sql` may be cut anywhere and have any bytes; a literal without an
 * end lasts to the end of the text, as does a string with a backslash before a quote unless it
 * begins with E. `size` must be at least 1. */
void statement_text_without_literals(const char *sql, char *ret, size_t size);
