/* The sources of this machine by their names: what from.h needs no library of a database or a file
 * for. */
#ifndef CAMP_SOURCES_FROM_MACHINE_H
#define CAMP_SOURCES_FROM_MACHINE_H

#include "from.h"

#define FROM_DEFAULT "threads" /* of who says no name */

/* Whether it is one of them: "cpus", "threads", ... */
bool from_machine_has(const char *name);

/* Of `from`: text, states_options, tier, stop. Fills `facts`, which are zeroed, as from_open()
 * does. CAMP_E_INVALID: there is none of that name, or it has no such tier. */
int from_machine_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error);

#endif
