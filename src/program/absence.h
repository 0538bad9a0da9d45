/* What this system, or this build of camp, does not have. */
#pragma once

#include "sources/from_list.h"

/* Returns why there is no such command here, as a sentence without a full stop. NULL: the command
 * is there. */
const char *command_absence(const char *name);

/* The same for an option of a command such as "camp check". The option exists on other systems. */
const char *option_absence(const char *command, const char *name);

/* The same for a source of --from. */
const char *source_absence(const struct from_source *source);
