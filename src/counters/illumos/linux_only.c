/* The functions of linux.h, which only Linux can answer. */
#include "../error.h"

#include <camp/linux.h>

/* The arguments have names, so that the functions can be compared with their declarations. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int only_on_linux(const char *what, struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0, "%s exist only on Linux", what);
}

int camp_taskstats_open(struct camp_taskstats *taskstats, struct camp_error *error)
{
    return only_on_linux("taskstats", error);
}

void camp_taskstats_close(struct camp_taskstats *taskstats)
{
}

int camp_taskstats_read(struct camp_taskstats *taskstats, const int32_t *pids, size_t count,
                        struct camp_taskstat *tasks, size_t size, struct camp_error *error)
{
    return only_on_linux("taskstats", error);
}

int camp_taskstats_listen(struct camp_taskstats *taskstats, struct camp_error *error)
{
    return only_on_linux("taskstats", error);
}

int camp_taskstats_exits(struct camp_taskstats *taskstats, struct camp_task_exit *exits,
                         size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    return only_on_linux("taskstats", error);
}

int camp_linux_read(const struct camp_source *source, struct camp_linux *ret, size_t size,
                    struct camp_error *error)
{
    return only_on_linux("these facts", error);
}
