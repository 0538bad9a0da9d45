#include "exported_inside.h"

#include "counters/clock.h"

#include <stdio.h>
#include <unistd.h>

static bool resident_bytes(uint64_t *ret)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long size, resident;
    bool got;

    if (file == NULL)
        return false;
    got = fscanf(file, "%lu %lu", &size, &resident) == 2;
    fclose(file);
    if (got)
        *ret = (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
    return got;
}

static void set_losses(struct exported *exported)
{
    struct camp_states_losses losses;

    if (exported->session == NULL) {
        exported_set(exported, SELF_LOST_EXITS, 0, exported->lost + exported->unseen);
        exported_set(exported, SELF_UNREAD, 0, exported->unread_ns);
        return;
    }
    if (camp_states_losses(exported->session, &losses, sizeof losses, NULL) != CAMP_OK)
        return;
    exported_set(exported, SELF_SWITCHES, 0, losses.switches);
    exported_set(exported, SELF_UNSEEN, 0, losses.unseen);
    exported_set(exported, SELF_LOST_EXITS, 0, losses.exits_lost);
    exported_set(exported, SELF_ADDED_EXITS, 0, losses.exits_added_up);
    exported_set(exported, SELF_LOST_ACCOUNTS, 0, losses.lost);
}

void exported_self_read(struct exported *exported, const struct scrapes *scrapes)
{
    struct series *info = exported->families[SELF_INFO].series;
    uint64_t resident;

    info->labels[0] = camp_version();
    info->labels[1] = exported->tier;
    exported_set(exported, SELF_INFO, 0, 1);
    exported_set(exported, SELF_START, 0, exported->start_wall_ns);
    exported_set(exported, SELF_CPU, 0, now_ns(CLOCK_PROCESS_CPUTIME_ID));
    if (resident_bytes(&resident))
        exported_set(exported, SELF_RESIDENT, 0, resident);
    exported_set(exported, SELF_SCRAPES, 0, scrapes->answered);
    exported_set(exported, SELF_SCRAPES, 1, scrapes->failed);
    exported_set(exported, SELF_SCRAPES, 2, scrapes->refused);
    exported_set(exported, SELF_SENT, 0, scrapes->sent_bytes);
    exported_set(exported, SELF_SNAPSHOT, 0, exported->read_ns);
    exported_set(exported, SELF_SNAPSHOT_CPU, 0,
                 exported->read_cpu_ns + exported_sessions_cpu_ns(exported));
    if (exported->sessions != NULL) /* exported_sessions.c has set those of sessions */
        return;
    exported_set(exported, SELF_GROUPS, 0, exported->sums.top.count);
    exported_set(exported, SELF_DEMOTED, 0, exported->sums.top.demoted);
    exported_set(exported, SELF_DEFERRED, 0, exported->sums.top.deferred);
    set_losses(exported);
}
