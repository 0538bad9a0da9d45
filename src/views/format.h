/* Helpers shared by the formats. */
#pragma once

#include "view.h"

/* The length of the UTF-8 character at `text` in bytes (1 to 4); 0 if invalid. Never reads past a
 * NUL. */
size_t utf8_length(const char *text);

/* The length of the character at `text` in bytes (an invalid byte has 1), and its columns on a
 * terminal; 0 columns: unprintable, or unknown in the locale. */
size_t character_length(const char *text, size_t *ret_columns);

/* Writes a number or a boolean, for JSON and CSV. False: another kind of cell. */
bool write_plain(FILE *stream, const struct cell *cell);

/* Writes a JSON string with its quotes. An invalid byte becomes U+FFFD. */
void json_text(FILE *stream, const char *text);

/* Do options->columns, if given, include this column of the record's main table? */
bool column_wanted(const struct view_options *options, const struct record *record, size_t table,
                   const char *name);

/* Flushes the stream. 0, or the errno of the failed write. */
int view_flush(const struct view_options *options);

/* The index of a table by its name; record->table_count if there is none. */
size_t table_by_name(const struct record *record, const char *name);

/* The cell of a column by its name; unknown if there is none. */
struct cell cell_of(const struct record *record, const char *table, size_t row, const char *column);
