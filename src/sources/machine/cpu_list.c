#include "cpu_list.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int cpu_list_read(struct cpu_list *list, struct camp_reader *reader, struct camp_error *error)
{
    for (;;) {
        int r = camp_reader_cpus(reader, list->cpus, sizeof *list->cpus, list->capacity,
                                 &list->count, error);

        if (r != CAMP_E_SPACE)
            return r;
        if (!ARRAY_RESERVE(list->cpus, list->capacity, list->count))
            return CAMP_E_NOMEM;
    }
}

const struct camp_cpu *cpu_list_find(const struct cpu_list *list, int32_t cpu)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->cpus[i].cpu == cpu)
            return &list->cpus[i];
    }
    return NULL;
}

void cpu_list_entity(struct entity *ret, int32_t cpu)
{
    ret->id = cpu;
    if (cpu == CAMP_CPU_TOTAL)
        snprintf(ret->name, sizeof ret->name, "all");
    else
        snprintf(ret->name, sizeof ret->name, "cpu%" PRId32, cpu);
}
