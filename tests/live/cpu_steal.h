/* Steal time as room for a law: what the hypervisor took is time of nobody here, and each clock
 * books it in its own way. */
#ifndef CAMP_TESTS_CPU_STEAL_H
#define CAMP_TESTS_CPU_STEAL_H

#include <camp/camp.h>

/* Of one CPU, or of all (CAMP_CPU_TOTAL), so far; 0 where none is reported. */
static inline uint64_t steal_ns(int32_t cpu)
{
    struct camp_cpu now;

    return camp_cpu_read(NULL, cpu, &now, sizeof now, NULL) == CAMP_OK ? now.steal_ns : 0;
}

#endif
