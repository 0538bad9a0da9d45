/* Parser: src/counters/linux/system.c */
/* Parser: src/counters/linux/frequency.c */
/* Parses any bytes as each file of the system's counters, and as those with a CPU's frequency. */
#include "foreign.h"

#include <camp/system.h>

static const uint32_t each_file[] = {
    CAMP_SYSTEM_FORKS,    CAMP_SYSTEM_LOAD_AVERAGE_1, CAMP_SYSTEM_FAULTS,
    CAMP_SYSTEM_CPU_SOME, CAMP_SYSTEM_MEMORY_SOME,    CAMP_SYSTEM_IO_SOME,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hz = 0;

    foreign_file(data, size);
    for (size_t i = 0; i < sizeof each_file / sizeof each_file[0]; i++) {
        struct camp_system system;

        if (camp_system_read(&foreign_source, each_file[i], &system, sizeof system, NULL) !=
            CAMP_OK)
            continue;
        if ((system.known & ~(uint32_t)CAMP_SYSTEM_ALL) != 0 || system.time_ns == 0)
            abort();
        if ((system.known & CAMP_SYSTEM_FORKS) == 0 && system.forks != 0)
            abort();
        if ((system.known & CAMP_SYSTEM_IO_FULL) == 0 && system.io_full_ns != 0)
            abort();
    }
    if (camp_cpu_frequency_hz(&foreign_source, 0, &hz, NULL) != CAMP_OK && hz != 0)
        abort();
    return 0;
}
