/* Helpers shared by the views. */
#pragma once

#include "ledger/characters.h"
#include "view.h"

/* Returns the length in bytes of the character at `text`, which is 1 for an invalid byte.
 * *ret_columns is the width of the character on a terminal, or 0 if the character is unprintable or
 * unknown in the locale. */
size_t character_length(const char *text, size_t *ret_columns);

/* Writes any bytes as a part of a line: each unprintable character that is not one of `also`, and
 * each invalid byte, as '?'. */
void write_printable(FILE *stream, const char *text, const char *also);

/* Writes a number or a boolean as JSON and CSV have it. Writes nothing and returns false for other
 * kinds of cells. */
bool write_plain(FILE *stream, const struct cell *cell);

/* Writes a JSON string with its quotes. An unprintable character is escaped. An invalid byte
 * becomes U+FFFD. */
void json_text(FILE *stream, const char *text);

/* Returns true if the column is to be shown. `name` is NULL for a column that only text has. If
 * options->columns is not NULL, the main table shows only the columns in that list, and no table
 * shows columns without a name. */
bool column_wanted(const struct view_options *options, const struct record *record, size_t table,
                   const char *name);

/* Flushes the stream. Returns 0, or the errno of the failed write. */
int view_flush(const struct view_options *options);

/* Returns the index of the table with this name, or record->table_count if there is no such
 * table. */
size_t table_by_name(const struct record *record, const char *name);

/* Returns the cell in the column with this name, or an unknown cell if there is no such cell. */
struct cell cell_of(const struct record *record, const char *table, size_t row, const char *column);
