#include "child_exits.h"

#include "counters/error.h"
#include "counters/units.h"

#include <stdlib.h>

#define AT_ONCE 64
#define NEAR_S 2
#define US_PER_S 1000000

int child_exits_open(struct child_exits *exits, struct camp_error *error)
{
    int r = camp_taskstats_open(&exits->taskstats, error);

    if (r != CAMP_OK)
        return r;
    exits->is_open = true;
    r = camp_taskstats_listen(&exits->taskstats, error);
    exits->records = calloc(CHILD_EXITS, sizeof *exits->records);
    if (r == CAMP_OK && exits->records == NULL)
        r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for exit records");
    if (r != CAMP_OK)
        child_exits_close(exits);
    return r;
}

void child_exits_close(struct child_exits *exits)
{
    if (exits->is_open)
        camp_taskstats_close(&exits->taskstats);
    free(exits->records);
    *exits = (struct child_exits){ 0 };
}

/* A record is of a thread, so only children with one thread are exact. */
static void keep(struct child_exits *exits, const struct camp_task_exit *exit, int32_t parent)
{
    if (exit->parent != parent)
        return;
    exits->records[exits->count++ % CHILD_EXITS] =
        (struct child_exit){ exit->tid, exit->began_s, exit->measured_ns, exit->run_delay_ns,
                             exit->elapsed_ns };
}

void child_exits_read(struct child_exits *exits, int32_t parent)
{
    struct camp_task_exit records[AT_ONCE];
    size_t count = AT_ONCE;

    while (exits->is_open && count == AT_ONCE &&
           camp_taskstats_exits(&exits->taskstats, records, sizeof records[0], AT_ONCE, &count,
                                NULL) == CAMP_OK) {
        for (size_t i = 0; i < count; i++)
            keep(exits, &records[i], parent);
    }
}

const struct child_exit *child_exits_find(const struct child_exits *exits, int32_t pid,
                                          int64_t start_us)
{
    const uint64_t kept = exits->count < CHILD_EXITS ? exits->count : CHILD_EXITS;

    for (uint64_t i = 0; i < kept; i++) {
        const struct child_exit *exit = &exits->records[(exits->count - 1 - i) % CHILD_EXITS];
        const int64_t apart_s = (int64_t)exit->began_s - start_us / US_PER_S;

        if (exit->pid == pid && apart_s >= -NEAR_S && apart_s <= NEAR_S)
            return exit;
    }
    return NULL;
}
