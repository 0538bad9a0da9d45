/*
 * Comma-separated values as in RFC 4180: fields may be quoted, a quote within is doubled, lines end
 * in LF or CRLF. A UTF-8 byte order mark and empty lines are skipped. The separator is a comma, a
 * semicolon or a tab: the only one in the first row outside of quotes. If there is none, or more
 * than one, the first row is CAMP_E_FORMAT.
 *
 * A row with an unclosed quote (within 1 MiB, or at all) is a single line, so that one stray quote
 * does not swallow the following rows.
 */
#pragma once

#include "rows.h"
#include "sources/from.h"

/* `path` "-": standard input. Uses progress (in bytes; a total of 0: unknown) and stop of
 * `from`. */
int csv_rows_open(const char *path, const struct from *from, struct rows **ret,
                  struct camp_error *error);
