/* The functions of system.h about the whole system, for a system without support: each returns
 * CAMP_E_NOTSUP. A port that has none of them yet builds this file. */
#include "../error.h"

#include <camp/system.h>

/* Unused arguments have names, because the author of a port will use them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int not_counted(struct camp_error *error, const char *what)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0, "%s cannot be read on this system by this libcamp",
                     what);
}

int camp_system_read(const struct camp_source *source, uint32_t wanted, struct camp_system *ret,
                     size_t size, struct camp_error *error)
{
    return not_counted(error, "the system's counters");
}

int camp_cpu_frequency_hz(const struct camp_source *source, int32_t cpu, uint64_t *ret_hz,
                          struct camp_error *error)
{
    return not_counted(error, "the frequency of a CPU");
}
