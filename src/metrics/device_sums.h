/* Counters of devices that come and go, added up so that the sum never falls: counts of a removed
 * device stay in it. Pure arithmetic. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_COUNTERS 8

struct device_sum {
    char name[CAMP_NAME_SIZE];
    uint64_t values[DEVICE_COUNTERS]; /* of the last reading */
    bool seen;                        /* in this snapshot */
};

struct device_sums {
    struct device_sum *devices; /* [count]; owned: device_sums_release() */
    size_t count, capacity;
    uint64_t sums[DEVICE_COUNTERS];
};

void device_sums_release(struct device_sums *sums);

void device_sums_start(struct device_sums *sums);

/* Adds the counters of a device. If it was absent in the last snapshot, all its counts are new.
 * CAMP_OK or CAMP_E_NOMEM. */
int device_sums_add(struct device_sums *sums, const char *name,
                    const uint64_t values[DEVICE_COUNTERS]);

/* Drops the devices that were not seen in this snapshot. */
void device_sums_finish(struct device_sums *sums);
