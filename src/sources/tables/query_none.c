/* Replaces query.c in a build without SQLite. */
#include "counters/error.h"
#include "rows.h"

int query_rows_open(const char *path, const char *query, const struct from *from, struct rows **ret,
                    struct camp_error *error)
{
    (void)query, (void)from, (void)ret;
    return camp_fail(
        error, CAMP_E_NOTSUP, 0,
        "%s: this camp was built without SQLite; install libsqlite3-dev and build it again", path);
}
