/* Replaces the source postgres in a build without libpq. */
#include "postgres.h"

#include "counters/error.h"

int postgres_source_open(const struct from *from, const char *conninfo, struct source **ret,
                         struct from_facts *facts, struct camp_error *error)
{
    (void)from;
    (void)conninfo;
    (void)ret;
    (void)facts;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "postgres: this camp was built without libpq; use camp's Debian package, or "
                     "build it with libpq-dev installed");
}

int postgres_source_name(const char *conninfo, char *ret, size_t size, struct camp_error *error)
{
    (void)ret;
    (void)size;
    return postgres_source_open(NULL, conninfo, NULL, NULL, error);
}
