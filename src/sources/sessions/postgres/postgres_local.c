/*
 * A server in a container or on another host has pids of its own. A local process with the same pid
 * and start time is rarely a coincidence; in another pid namespace (several numbers in NSpid,
 * proc_pid_status(5)) it still is another process. A backend reads its clock once it runs: on a
 * busy machine some time after its start.
 */
#include "postgres_local.h"

#include "counters/units.h"

#include <camp/camp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE_NS (2 * (int64_t)NS_PER_S)
#define BEHIND_NS (10 * (int64_t)NS_PER_S)

static bool is_of_our_namespace(int32_t pid)
{
    char path[32], line[256];
    bool is_ours = false;
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    status = fopen(path, "re");
    if (status == NULL)
        return false;
    while (fgets(line, sizeof line, status) != NULL) {
        int first, second;

        if (strncmp(line, "NSpid:", 6) == 0)
            is_ours = sscanf(line + 6, "%d %d", &first, &second) == 1 && first == pid;
    }
    fclose(status);
    return is_ours;
}

bool postgres_is_process(int32_t pid, int64_t start_us)
{
    struct camp_process process;
    int64_t began_ns, apart_ns;

    if (pid <= 0 || camp_process_identify(NULL, pid, &process, sizeof process, NULL) != CAMP_OK)
        return false;
    began_ns = (int64_t)now_ns(CLOCK_REALTIME) - (int64_t)now_ns(CLOCK_BOOTTIME) +
               (int64_t)(process.start * proc_time_unit_ns());
    apart_ns = start_us * (int64_t)NS_PER_US - began_ns;
    return apart_ns >= -BEFORE_NS && apart_ns <= BEHIND_NS && is_of_our_namespace(pid);
}
