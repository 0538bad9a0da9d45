#include "cpu_list.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static int compare_cpu(const void *key, const void *element)
{
    const int32_t cpu = *(const int32_t *)key, other = ((const struct camp_cpu *)element)->cpu;

    return (cpu > other) - (cpu < other);
}

const struct camp_cpu *cpu_list_find(const struct cpu_list *list, int32_t cpu)
{
    return ARRAY_FIND(&cpu, list->cpus, list->count, compare_cpu);
}

bool cpu_list_column(const struct camp_cpu *cpu, enum cpus_column column, uint64_t *ret)
{
#define TIME(bit, field)                                                                           \
    {                                                                                              \
        CAMP_CPU_##bit, offsetof(struct camp_cpu, field)                                           \
    }
    static const struct {
        uint32_t bit;
        size_t offset;
    } times[CPUS_COLUMN_COUNT] = {
        [CPUS_USER] = TIME(USER, user_ns),
        [CPUS_NICE] = TIME(NICE, nice_ns),
        [CPUS_SYSTEM] = TIME(SYSTEM, system_ns),
        [CPUS_IRQ] = TIME(IRQ, irq_ns),
        [CPUS_SOFTIRQ] = TIME(SOFTIRQ, softirq_ns),
        [CPUS_GUEST] = TIME(GUEST, guest_ns),
        [CPUS_GUEST_NICE] = TIME(GUEST_NICE, guest_nice_ns),
        [CPUS_IDLE] = TIME(IDLE, idle_ns),
        [CPUS_IOWAIT] = TIME(IOWAIT, iowait_ns),
        [CPUS_STEAL] = TIME(STEAL, steal_ns),
    };

    memcpy(ret, (const char *)cpu + times[column].offset, sizeof *ret);
    return (cpu->known & times[column].bit) != 0;
}

void cpu_list_entity(struct entity *ret, int32_t cpu)
{
    ret->id = cpu;
    if (cpu == CAMP_CPU_TOTAL)
        snprintf(ret->name, sizeof ret->name, "all");
    else
        snprintf(ret->name, sizeof ret->name, "cpu%" PRId32, cpu);
}
