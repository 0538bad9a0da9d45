/* Replaces the source mariadb in a build without libmariadb. */
#include "counters/error.h"
#include "mariadb.h"

int mariadb_source_open(const struct from *from, const char *conninfo, struct source **ret,
                        struct from_facts *facts, struct camp_error *error)
{
    (void)from, (void)conninfo, (void)ret, (void)facts;
    return camp_fail(
        error, CAMP_E_NOTSUP, 0,
        "mariadb: this camp was built without libmariadb; use camp's Debian package, or "
        "build it with libmariadb-dev installed");
}

int mariadb_source_name(const char *conninfo, char *ret, size_t size, struct camp_error *error)
{
    (void)ret, (void)size;
    return mariadb_source_open(NULL, conninfo, NULL, NULL, error);
}
