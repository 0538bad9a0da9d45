/* Sums of counters over devices that come and go. A sum never falls, because the counts of a
 * removed device remain in it. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_COUNTERS 8

struct device_sum {
    char name[CAMP_NAME_SIZE];
    uint64_t values[DEVICE_COUNTERS];
    bool seen;
};

struct device_sums {
    struct device_sum *devices;
    size_t count, capacity;
    uint64_t sums[DEVICE_COUNTERS];
    bool is_partial; /* a device of this snapshot could not be added */
};

void device_sums_release(struct device_sums *sums);

void device_sums_start(struct device_sums *sums);

/* Adds to the sums how much the counters of a device have grown since the previous snapshot. If the
 * previous snapshot lacked the device, adds the whole counters. Returns CAMP_OK or CAMP_E_NOMEM. */
int device_sums_add(struct device_sums *sums, const char *name,
                    const uint64_t values[DEVICE_COUNTERS]);

/* Drops the devices that were not added in this snapshot, unless device_sums_add() failed. After a
 * failure, an existing device could be dropped, and the next snapshot would add its whole counters
 * again. */
void device_sums_finish(struct device_sums *sums);
