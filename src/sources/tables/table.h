/*
 * A table as a source: rows of (time, entity, numbers) become frames, whoever made them. What the
 * columns mean is wanted in table_columns.h, how times and numbers are written in sources/field.h.
 *
 * - A frame is all rows of one time; its interval is the time since the one before, of the first
 *   the usual one.
 * - A row is about the time since its entity's row before, as long as that was in the frame before
 *   or not above 1.5 times what is usual; otherwise about the usual time. A column of elapsed time
 *   says it instead.
 * - Values are valid_frame in the unit of their column's name, of struct from, or in that which
 * makes the median row come nearest to its time; the last is a guess, and wanted so.
 * - What does not add up is data: nothing is normalised.
 * - Rows that cannot be valid_frame, and a further one of the same time and entity, are passed
 * over, and counted in losses.partial of their frame; the first one and their number are told.
 */
#ifndef CAMP_SOURCES_TABLES_TABLE_H
#define CAMP_SOURCES_TABLES_TABLE_H

#include "rows.h"
#include "sources/from.h"

/* Reads all of `rows`, which is released in any case. `name` is the table's, for messages, and its
 * only entity's when it has no column of them. Of *facts all but the name is set. CAMP_E_FORMAT: it
 * is no table, CAMP_E_INVALID: there is no such unit. */
int table_source_open(struct rows *rows, const char *name, const struct from *from,
                      struct source **ret, struct from_facts *facts, struct camp_error *error);

#endif
