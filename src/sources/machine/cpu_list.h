/* The CPUs of one reading of the system's own accounting. */
#ifndef CAMP_SOURCES_MACHINE_CPU_LIST_H
#define CAMP_SOURCES_MACHINE_CPU_LIST_H

#include "ledger/frame.h"

/* Owns its array: free() it. All zero is an empty one. */
struct cpu_list {
    struct camp_cpu *cpus; /* [count], the total first */
    size_t count, capacity;
};

/* Reads all CPUs, with as much room as it takes. CAMP_E_NOMEM, or what camp_reader_cpus() says. */
int cpu_list_read(struct cpu_list *list, struct camp_reader *reader, struct camp_error *error);

/* NULL: it is not there. */
const struct camp_cpu *cpu_list_find(const struct cpu_list *list, int32_t cpu);

/* An entity that is a CPU: "cpu3", or of CAMP_CPU_TOTAL "all". */
void cpu_list_entity(struct entity *ret, int32_t cpu);

#endif
