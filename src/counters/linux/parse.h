/*
 * Parsers of system files. Each parser is in the source file of its subject (cpu.c, memory.c,
 * network.c, disk.c). No input may crash a parser.
 *
 * The functions *_scan() parse an open file. `path` is only for error messages.
 *
 * A parser of a single line returns false if the kernel does not write such a line. *line.end must
 * be a newline.
 */
#pragma once

#include "../text.h"

#include <camp/camp.h>

/* Parses the id at the start of "cpu  1 2 3 4" or "cpu7 1 2 3 4", and leaves the columns in *line.
 */
bool camp_cpu_id_of(struct cursor *line, int32_t *ret_cpu);
/* Parses the columns of a CPU, which are in ticks. Sets all fields of *ret except cpu and time_ns.
 */
bool camp_cpu_columns(struct cursor line, uint64_t ticks_per_second, struct camp_cpu *ret);
int camp_cpu_scan(int descriptor, const char *path, struct camp_cpu *cpus, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error);

/* Searches a part of /proc/stat for the line "processes N". Returns false if the part does not have
 * the whole line. */
bool camp_parse_fork_count(const char *bytes, size_t length, uint64_t *ret_count);

/* Reads at least the wanted lines (enum camp_memory_field) that the file has. */
int camp_memory_scan(int descriptor, const char *path, uint32_t wanted, struct camp_memory *ret,
                     struct camp_error *error);

bool camp_network_line(struct cursor line, struct camp_network *ret);
int camp_network_scan(int descriptor, const char *path, struct camp_network *networks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error);

/* Parses the columns of a disk, starting with the number of reads. The caller must have set *ret to
 * zero. */
bool camp_disk_columns(struct cursor line, struct camp_disk *ret);
/* Parses a line of /proc/diskstats. Sets all fields of *ret except kind and time_ns. The caller
 * must have set *ret to zero. */
bool camp_disk_line(struct cursor line, struct camp_disk *ret);
bool camp_disk_is_partition_name(const char *disk, const char *name);
/* `sys` is the folder of sysfs, for CAMP_DISK_PHYSICAL. */
int camp_disk_scan(int descriptor, const char *path, const char *sys, int kind,
                   struct camp_disk *disks, size_t size, size_t capacity, size_t *ret_count,
                   struct camp_error *error);

enum camp_reader_kind {
    CAMP_READER_CPUS = 1,
    CAMP_READER_MEMORY = 2,
    CAMP_READER_NETWORKS = 3,
    CAMP_READER_DISKS = 4,
    CAMP_READER_PROCESS = 5
};
