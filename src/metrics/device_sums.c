#include "device_sums.h"

#include "ledger/array.h"
#include "ledger/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void device_sums_release(struct device_sums *sums)
{
    free(sums->devices);
    *sums = (struct device_sums){ 0 };
}

void device_sums_start(struct device_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        sums->devices[i].seen = false;
    sums->is_partial = false;
}

static struct device_sum *find(struct device_sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->count; i++) {
        if (strcmp(sums->devices[i].name, name) == 0)
            return &sums->devices[i];
    }
    if (!ARRAY_RESERVE(sums->devices, sums->capacity, sums->count + 1))
        return NULL;
    sums->devices[sums->count] = (struct device_sum){ 0 };
    snprintf(sums->devices[sums->count].name, CAMP_NAME_SIZE, "%s", name);
    return &sums->devices[sums->count++];
}

int device_sums_add(struct device_sums *sums, const char *name,
                    const uint64_t values[DEVICE_COUNTERS])
{
    struct device_sum *device = find(sums, name);

    sums->is_partial |= device == NULL;
    if (device == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < DEVICE_COUNTERS; i++)
        sums->sums[i] += counted_since(device->values[i], values[i]);
    memcpy(device->values, values, sizeof device->values);
    device->seen = true;
    return CAMP_OK;
}

void device_sums_finish(struct device_sums *sums)
{
    size_t kept = 0;

    if (sums->is_partial)
        return;
    for (size_t i = 0; i < sums->count; i++) {
        if (sums->devices[i].seen)
            sums->devices[kept++] = sums->devices[i];
    }
    sums->count = kept;
}
