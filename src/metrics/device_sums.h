/* Counters of devices that come and go, added up so that the sum never falls: what a device that is
 * gone counted stays in it. Pure arithmetic. */
#ifndef CAMP_METRICS_DEVICE_SUMS_H
#define CAMP_METRICS_DEVICE_SUMS_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_COUNTERS 8

struct device_sum {
    char name[CAMP_NAME_SIZE];
    uint64_t values[DEVICE_COUNTERS]; /* as read last */
    bool met;                         /* in this look */
};

struct device_sums {
    struct device_sum *devices; /* [count]; owned: device_sums_release() */
    size_t count, capacity;
    uint64_t sums[DEVICE_COUNTERS];
};

void device_sums_release(struct device_sums *sums);

void device_sums_begin(struct device_sums *sums);

/* One that was not there in the look before has counted since it came. CAMP_OK or CAMP_E_NOMEM. */
int device_sums_add(struct device_sums *sums, const char *name,
                    const uint64_t values[DEVICE_COUNTERS]);

/* Those that were not met are forgotten. */
void device_sums_end(struct device_sums *sums);

#endif
