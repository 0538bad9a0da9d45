/*
 * A source that makes frames of the rows of a table. The columns are a time, an entity and numbers.
 * table_columns.h describes the columns; sources/field.h describes how times and numbers are
 * written.
 *
 * A frame has all rows of one time. Its interval starts at the time of the preceding frame. For the
 * first frame the interval has the usual length.
 *
 * The elapsed time of a row is in a column of elapsed times. Without such a column it is the time
 * since the previous row of the same entity. But it is the usual time between two rows of an entity
 * if the row is the first of its entity, or if the entity is absent from the preceding frame and
 * its previous row is more than 1.5 times the usual time ago.
 *
 * The unit of the values is in the names of their columns or in struct from. Otherwise camp guesses
 * the unit, so that the values of a typical row add up to nearly its elapsed time. The note then
 * says that the unit is a guess.
 *
 * An entity is identified by its name, so its id is 0. Only entities whose names are too long for a
 * frame, and equal as far as they fit, have different ids above 0.
 *
 * Values that do not add up to the elapsed time are left as they are.
 *
 * An invalid row, or a second row with the same time and entity, is skipped and counted in
 * losses.partial of its frame. The note has the number of these rows and the first problem.
 */
#pragma once

#include "rows.h"

/* Reads all of `rows`, and closes it in any case. `name` is the name of the table in messages.
 * Without a column of entities it is also the name of the only entity. Fills *facts except its
 * name. Returns CAMP_E_FORMAT if the input is not a table, and CAMP_E_INVALID if the unit is
 * unknown. */
int table_source_open(struct rows *rows, const char *name, const struct from *from,
                      struct source **ret, struct from_facts *facts, struct camp_error *error);
