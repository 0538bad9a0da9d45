/* Helpers shared by the formats. */
#pragma once

#include "view.h"

/* Returns the length of the UTF-8 character at `text` in bytes (1 to 4); 0 if it is invalid. Never
 * reads past a NUL. */
size_t utf8_length(const char *text);

/* Returns the length of the character at `text` in bytes (1 for an invalid byte). *ret_columns: its
 * width on a terminal; 0: unprintable, or unknown in the locale. */
size_t character_length(const char *text, size_t *ret_columns);

/* Writes a number or a boolean, for JSON and CSV. False: the cell is of another kind. */
bool write_plain(FILE *stream, const struct cell *cell);

/* Writes a JSON string with its quotes. An invalid byte becomes U+FFFD. */
void json_text(FILE *stream, const char *text);

/* Do options->columns, if given, include this column of the record's main table? */
bool column_wanted(const struct view_options *options, const struct record *record, size_t table,
                   const char *name);

/* Flushes the stream. Returns 0, or the errno of the failed write. */
int view_flush(const struct view_options *options);

/* Returns the index of the table with this name; record->table_count if there is none. */
size_t table_by_name(const struct record *record, const char *name);

/* Returns the cell in the column with this name; an unknown cell if there is none. */
struct cell cell_of(const struct record *record, const char *table, size_t row, const char *column);
