#include "idle_time.h"

#include <camp/catalogue.h>

#include <stddef.h>

enum camp_provenance idle_time_provenance(const struct camp_kernel *kernel)
{
    const struct camp_counter idle = { .rule = CAMP_RULE_IDLE };

    return (enum camp_provenance)camp_counter_provenance(&idle, kernel, CAMP_CPU_TOTAL, NULL);
}

const char *idle_time_doubt(const struct camp_kernel *kernel)
{
    const enum camp_provenance provenance = idle_time_provenance(kernel);

    if (provenance == CAMP_MEASURED)
        return NULL;
    if ((kernel->known & CAMP_KERNEL_SHORT_IDLE) == 0)
        return "this kernel may sample short idle periods";
    if (kernel->short_idle_sampled == 1)
        return "this kernel samples short idle periods";
    return provenance == CAMP_SAMPLED ? "this kernel samples idle time" : NULL;
}
