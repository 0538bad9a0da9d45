/* The functions that read all CPUs, memory, networks or disks from an open chain of kstats. A
 * struct camp_reader keeps the chain open between calls (reader.c). */
#pragma once

#include "kstats.h"

/* Each function works like the function of camp.h with a similar name, such as
 * camp_cpu_read_all(). The caller has checked the arguments. */
int camp_cpu_scan(kstat_ctl_t *control, struct camp_cpu *cpus, size_t size, size_t capacity,
                  size_t *ret_count, struct camp_error *error);
int camp_memory_scan(kstat_ctl_t *control, uint32_t wanted, struct camp_memory *ret,
                     struct camp_error *error);
int camp_network_scan(kstat_ctl_t *control, struct camp_network *networks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error);
int camp_disk_scan(kstat_ctl_t *control, int kind, struct camp_disk *disks, size_t size,
                   size_t capacity, size_t *ret_count, struct camp_error *error);

/* Fills the wanted fields of swap and of promised memory. What cannot be read stays unknown. */
void camp_swap_read(uint32_t wanted, struct camp_memory *ret);
