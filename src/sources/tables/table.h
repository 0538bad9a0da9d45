/*
 * A source that makes frames of the rows of a table. The columns are a time, an entity and numbers.
 * table_columns.h describes the columns; sources/field.h describes how times and numbers are
 * written.
 *
 * A frame has all rows of one time. Its interval starts at the time of the preceding frame; the
 * first frame has the usual interval.
 *
 * A row covers the time since the last row of its entity, if that row is in the preceding frame or
 * at most 1.5 times the usual time ago. Otherwise the row covers the usual time. A column of
 * elapsed times overrides this rule.
 *
 * The unit of the values is in the names of their columns or in struct from. Otherwise camp takes
 * the unit in which the sum of the median row is nearest to its elapsed time. The note says that
 * the unit is guessed.
 *
 * Values that do not add up to the elapsed time are left as they are.
 *
 * Invalid rows are skipped and counted in losses.partial of their frame, like a second row of the
 * same time and entity. The note has their number and the first of their problems.
 */
#pragma once

#include "rows.h"

/* Reads all of `rows`, and closes it in any case. `name` is the name of the table in messages, and
 * of the only entity if no column has entities. Sets all of *facts but the name. Returns
 * CAMP_E_FORMAT if the input is not a table, and CAMP_E_INVALID if the unit is unknown. */
int table_source_open(struct rows *rows, const char *name, const struct from *from,
                      struct source **ret, struct from_facts *facts, struct camp_error *error);
