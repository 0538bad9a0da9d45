/* Built without SQLite: recordings cannot be read. */
#include "counters/error.h"
#include "recording.h"
#include "recording_info.h"

static int refuse(const char *path, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "%s: this camp was built without SQLite; install libsqlite3-dev and build "
                     "it again",
                     path);
}

int recording_info_read(struct recording_info *ret, const char *path, struct camp_error *error)
{
    (void)ret;
    return refuse(path, error);
}

int recording_source_open(const struct from *from, const char *path, struct source **ret,
                          struct from_facts *ret_facts, struct camp_error *error)
{
    (void)from, (void)ret, (void)ret_facts;
    return refuse(path, error);
}
