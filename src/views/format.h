/* What the formats share. */
#ifndef CAMP_VIEWS_FORMAT_H
#define CAMP_VIEWS_FORMAT_H

#include "view.h"

/* Bytes of the UTF-8 character at text (1 to 4); 0 when there is none. Never reads past a NUL. */
size_t utf8_length(const char *text);

/* A number or a truth value, as JSON and CSV both write it. False: the cell is none. */
bool write_plain(FILE *stream, const struct cell *cell);

/* A JSON string with its quotes. Valid UTF-8 goes out as it is; a byte that is none as U+FFFD, so
 * that it is always JSON. */
void json_text(FILE *stream, const char *text);

/* Whether options->columns, when given, names this column of the record's main table. */
bool column_wanted(const struct view_options *options, const struct record *record, size_t table,
                   const char *name);

/* Flushes the stream: 0, or the errno of the write that failed. */
int view_flush(const struct view_options *options);

/* A table's index by its name; record->table_count when there is none. */
size_t table_by_name(const struct record *record, const char *name);

/* The cell of a column by its name; unknown where there is none. */
struct cell cell_of(const struct record *record, const char *table, size_t row, const char *column);

/* A record of camp.wait/1 as mpstat prints it: see view.h for number and result. */
int mpstat_record(const struct view_options *options, const struct record *record, uint64_t number);

#endif
