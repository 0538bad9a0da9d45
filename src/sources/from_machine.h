/* The sources of this machine by name: the part of from.h that needs no library of a database or a
 * file. */
#pragma once

#include "from.h"

#define FROM_DEFAULT "threads" /* the source if --from is not given */

/* Whether `name` is a source of this machine: "cpus", "threads", ... */
bool from_machine_has(const char *name);

/* Uses text, states_options, tier and stop of `from`. Fills `facts`, which are zeroed, as
 * from_open() does. CAMP_E_INVALID: unknown name or tier. */
int from_machine_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error);
