/* Replaces the source mariadb in a build without libmariadb. */
#include "counters/error.h"
#include "mariadb.h"

int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error)
{
    (void)from, (void)conninfo, (void)ret, (void)facts;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "mariadb: built without libmariadb; install libmariadb-dev and build camp "
                     "again");
}
