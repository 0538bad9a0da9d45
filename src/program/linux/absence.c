/* Every command, option and source exists on Linux. Those that were built without their library say
 * so when they are used. */
#include "program/absence.h"

const char *command_absence(const char *name)
{
    (void)name;
    return NULL;
}

const char *option_absence(const char *command, const char *name)
{
    (void)command, (void)name;
    return NULL;
}

const char *source_absence(const struct from_source *source)
{
    (void)source;
    return NULL;
}
