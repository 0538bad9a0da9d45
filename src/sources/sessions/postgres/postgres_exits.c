#include "postgres_exits.h"

#include "counters/error.h"
#include "counters/units.h"

#include <stdlib.h>

#define AT_ONCE 64
#define NEAR_S 2
#define US_PER_S 1000000

int postgres_exits_open(struct postgres_exits *exits, struct camp_error *error)
{
    int r = camp_taskstats_open(&exits->taskstats, error);

    if (r != CAMP_OK)
        return r;
    exits->is_open = true;
    r = camp_taskstats_listen(&exits->taskstats, error);
    exits->records = calloc(POSTGRES_EXITS, sizeof *exits->records);
    if (r == CAMP_OK && exits->records == NULL)
        r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for exit records");
    if (r != CAMP_OK)
        postgres_exits_close(exits);
    return r;
}

void postgres_exits_close(struct postgres_exits *exits)
{
    if (exits->is_open)
        camp_taskstats_close(&exits->taskstats);
    free(exits->records);
    *exits = (struct postgres_exits){ 0 };
}

/* A backend has one thread, and so one record. */
static void keep(struct postgres_exits *exits, const struct camp_task_exit *exit,
                 int32_t postmaster)
{
    if (exit->parent != postmaster)
        return;
    exits->records[exits->count++ % POSTGRES_EXITS] =
        (struct postgres_exit){ exit->tid, exit->began_s, exit->measured_ns, exit->run_delay_ns,
                                exit->elapsed_ns };
}

void postgres_exits_read(struct postgres_exits *exits, int32_t postmaster)
{
    struct camp_task_exit records[AT_ONCE];
    size_t count = AT_ONCE;

    while (exits->is_open && count == AT_ONCE &&
           camp_taskstats_exits(&exits->taskstats, records, sizeof records[0], AT_ONCE, &count,
                                NULL) == CAMP_OK) {
        for (size_t i = 0; i < count; i++)
            keep(exits, &records[i], postmaster);
    }
}

const struct postgres_exit *postgres_exits_find(const struct postgres_exits *exits, int32_t pid,
                                                int64_t start_us)
{
    const uint64_t kept = exits->count < POSTGRES_EXITS ? exits->count : POSTGRES_EXITS;

    for (uint64_t i = 0; i < kept; i++) {
        const struct postgres_exit *exit = &exits->records[(exits->count - 1 - i) % POSTGRES_EXITS];
        const int64_t apart_s = (int64_t)exit->began_s - start_us / US_PER_S;

        if (exit->pid == pid && apart_s >= -NEAR_S && apart_s <= NEAR_S)
            return exit;
    }
    return NULL;
}
