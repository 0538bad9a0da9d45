/* The functions of linux.h on systems other than Linux. */
#include "../error.h"

#include <camp/linux.h>

static int not_here(struct camp_error *error, const char *what)
{
    return camp_fail(error, CAMP_E_NOTSUP, 0, "%s: only Linux has this", what);
}

int camp_taskstats_open(struct camp_taskstats *taskstats, struct camp_error *error)
{
    (void)taskstats;
    return not_here(error, "taskstats");
}

void camp_taskstats_close(struct camp_taskstats *taskstats)
{
    (void)taskstats;
}

int camp_taskstats_read(struct camp_taskstats *taskstats, const int32_t *pids, size_t count,
                        struct camp_taskstat *tasks, size_t size, struct camp_error *error)
{
    (void)taskstats, (void)pids, (void)count, (void)tasks, (void)size;
    return not_here(error, "taskstats");
}

int camp_taskstats_listen(struct camp_taskstats *taskstats, struct camp_error *error)
{
    (void)taskstats;
    return not_here(error, "taskstats");
}

int camp_taskstats_exits(struct camp_taskstats *taskstats, struct camp_task_exit *exits,
                         size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    (void)taskstats, (void)exits, (void)size, (void)capacity, (void)ret_count;
    return not_here(error, "taskstats");
}

int camp_linux_read(const struct camp_source *source, struct camp_linux *ret, size_t size,
                    struct camp_error *error)
{
    (void)source, (void)ret, (void)size;
    return not_here(error, "facts about Linux");
}
