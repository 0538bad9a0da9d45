/* Opens the sources of this machine by their names, without the libraries of databases that from.h
 * needs. */
#pragma once

#include "from.h"

#define FROM_DEFAULT "threads" /* the source if --from is not given */

/* Returns whether `name` is a source of this machine, such as "cpus". */
bool from_machine_has(const char *name);

/* Opens the source of this machine that from->text names. *facts must be all zero before the call.
 * Returns CAMP_E_INVALID for an unknown name or tier. */
int from_machine_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error);
