/* Opens the sources of this machine by their names. Unlike from.h, it needs no library of a
 * database. */
#pragma once

#include "from.h"

#define FROM_DEFAULT "threads" /* the source if --from is not given */

/* Returns whether `name` is a source of this machine, such as "cpus". */
bool from_machine_has(const char *name);

/* Opens a source of this machine by the name from->text. Fills `facts`, which must be zeroed, like
 * from_open(). Returns CAMP_E_INVALID for an unknown name or tier. */
int from_machine_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error);
