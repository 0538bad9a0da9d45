/* A list of all CPUs with the system's own counters, read at one time. */
#pragma once

#include "sources/source.h"

/* The caller frees `cpus`. All zero: empty. */
struct cpu_list {
    struct camp_cpu *cpus; /* [count], the total first */
    size_t count, capacity;
};

/* Reads all CPUs, growing the list as needed. CAMP_E_NOMEM, or as camp_reader_cpus(). */
int cpu_list_read(struct cpu_list *list, struct camp_reader *reader, struct camp_error *error);

/* Finds a CPU in the list; NULL: it is not there. */
const struct camp_cpu *cpu_list_find(const struct cpu_list *list, int32_t cpu);

/* The time that a CPU has in a column of cpus_schema; false: the system does not report it. */
bool cpu_list_column(const struct camp_cpu *cpu, enum cpus_column column, uint64_t *ret);

/* Makes the entity of a CPU: "cpu3", or "all" for CAMP_CPU_TOTAL. */
void cpu_list_entity(struct entity *ret, int32_t cpu);
