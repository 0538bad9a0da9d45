/*
 * A source that makes frames of the rows of a table (time, entity, numbers). table_columns.h
 * describes the columns, sources/field.h how times and numbers are written.
 *
 *  - A frame is all rows of one time; its interval is the time since the frame before, for the
 * first frame the usual one.
 *  - A row covers the time since its entity's last row, if that was in the frame before, or not
 * more than 1.5 times the usual time ago; otherwise the usual time. A column of elapsed time
 * overrides this.
 *  - The unit of values is in their column's name or in struct from; otherwise it is the one with
 *    which the median row comes nearest to its time. That is a guess, which the note mentions.
 *  - Values that do not add up are data: nothing is normalised.
 *  - Invalid rows, and a repeated row of one time and entity, are skipped, and counted in
 *    losses.partial of their frame; the note has their number and the first of them.
 */
#pragma once

#include "rows.h"

/* Reads all of `rows`, which is released in any case. `name` is the name of the table in messages,
 * and the name of the only entity if there is no column of entities. Sets all of *facts but the
 * name. CAMP_E_FORMAT: it is no table; CAMP_E_INVALID: unknown unit. */
int table_source_open(struct rows *rows, const char *name, const struct from *from,
                      struct source **ret, struct from_facts *facts, struct camp_error *error);
