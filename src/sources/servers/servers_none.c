/* Replaces several servers in a build without libpq and libmariadb. */
#include "servers_from.h"

#include "counters/error.h"

int servers_from_check(const struct from *from, struct camp_error *error)
{
    (void)from;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "--from is given more than once: this camp was built without libpq and "
                     "libmariadb, so it has no sessions of several database servers");
}

int servers_from_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    (void)ret, (void)facts;
    return servers_from_check(from, error);
}
