/*
 * Comma-separated values, as RFC 4180 has them: fields may be quoted, a quote within is doubled,
 * lines end in LF or CRLF. A byte order mark of UTF-8 is passed over, so are empty lines. What
 * divides fields is a comma, a semicolon or a tab: whichever stands in the first row outside of
 * quotes. When none does, or more than one, the first row is CAMP_E_FORMAT.
 *
 * A row whose quote is not closed (within 1 MiB, or at all) is that line alone, so that one stray
 * quote does not swallow the rows behind it.
 */
#ifndef CAMP_SOURCES_TABLES_CSV_H
#define CAMP_SOURCES_TABLES_CSV_H

#include "rows.h"
#include "sources/from.h"

/* `path` "-": standard input. Of `from`, progress (in bytes; a total of 0: not known) and stop are
 * looked at. */
int csv_rows_open(const char *path, const struct from *from, struct rows **ret,
                  struct camp_error *error);

#endif
