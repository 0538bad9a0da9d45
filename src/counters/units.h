/* Units of the kernel's texts. */
#ifndef CAMP_COUNTERS_UNITS_H
#define CAMP_COUNTERS_UNITS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000u
#define NS_PER_MS 1000000u
#define NS_PER_US 1000u
#define BYTES_PER_KIB 1024u
#define BYTES_PER_SECTOR 512u /* of block statistics, whatever the device's own sector */

static inline uint64_t ns_of_timespec(struct timespec time)
{
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline uint64_t now_ns(clockid_t clock)
{
    struct timespec time;

    return clock_gettime(clock, &time) == 0 ? ns_of_timespec(time) : 0;
}

#endif
