/* The functions of system.h about one process, for a system without support: each returns
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

int camp_process_text(const struct camp_source *source, const struct camp_process *process,
                      int text, char *buffer, size_t capacity, size_t *ret_length,
                      struct camp_error *error)
{
    return not_counted(error, "texts of processes");
}

int camp_process_user_id(const struct camp_source *source, const struct camp_process *process,
                         uint32_t *ret_user_id, struct camp_error *error)
{
    return not_counted(error, "the user of a process");
}

int camp_process_proportional_bytes(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_bytes,
                                    struct camp_error *error)
{
    return not_counted(error, "the proportional set size of a process");
}
