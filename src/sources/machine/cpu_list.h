/* The kernel's counters of all CPUs, read at one time. */
#pragma once

#include "sources/source.h"

/* A list of zeros is empty. The caller frees `cpus`. */
struct cpu_list {
    struct camp_cpu *cpus; /* [count] first the total (CAMP_CPU_TOTAL), then each CPU */
    size_t count, capacity;
};

/* Reads all CPUs, and enlarges the list if needed. Returns CAMP_E_NOMEM, or the result of
 * camp_reader_cpus(). */
int cpu_list_read(struct cpu_list *list, struct camp_reader *reader, struct camp_error *error);

const struct camp_cpu *cpu_list_find(const struct cpu_list *list, int32_t cpu);

/* Sets *ret to the time of a CPU in a column of cpus_schema. Returns false if the kernel does not
 * report it. */
bool cpu_list_column(const struct camp_cpu *cpu, enum cpus_column column, uint64_t *ret);

/* Sets id and name of an entity: "cpu3", or "all" for CAMP_CPU_TOTAL. */
void cpu_list_entity(struct entity *ret, int32_t cpu);
