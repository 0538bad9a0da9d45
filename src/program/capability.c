#include "capability.h"

#include <string.h>

#define DAC_OVERRIDE 1 /* CAP_DAC_OVERRIDE, which root in a container usually has */

const struct capability capabilities[CAPABILITY_COUNT] = {
    { "CAP_NET_ADMIN", 12, "taskstats: sampled time of processes, ended ones" },
    { "CAP_SYS_PTRACE", 19, "I/O bytes of other users, with CAP_DAC_READ_SEARCH" },
    { "CAP_DAC_READ_SEARCH", 2, "files that only root may read" },
    { "CAP_BPF", 39, "microstates, with CAP_PERFMON" },
    { "CAP_PERFMON", 38, "microstates, with CAP_BPF" },
    { "CAP_SYS_ADMIN", 21, "instead of those two; switching delay accounting" },
};

static bool holds(const struct camp_linux *facts, unsigned number)
{
    return (facts->known & CAMP_LINUX_CAPABILITIES) != 0 &&
           (facts->capabilities >> number & 1) != 0;
}

bool capability_held(const struct camp_linux *facts, const char *name)
{
    for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
        if (strcmp(capabilities[i].name, name) == 0)
            return holds(facts, capabilities[i].number);
    }
    return false;
}

bool capability_opens_all(const struct camp_linux *facts)
{
    return capability_held(facts, "CAP_DAC_READ_SEARCH") || holds(facts, DAC_OVERRIDE);
}
