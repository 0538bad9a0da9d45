/* Used in builds without libcurl or yajl. */
#include "counters/error.h"
#include "fleet.h"

int fleet_source_open(const struct from *from, const char *place, struct source **ret,
                      struct from_facts *facts, struct camp_error *error)
{
    (void)from, (void)place, (void)ret, (void)facts;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "prometheus: this camp was built without libcurl or yajl; use camp's Debian "
                     "package, or build it with libcurl4-openssl-dev and libyajl-dev installed");
}
