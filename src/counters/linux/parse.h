/*
 * The parsers of the system's files, each in the file of its subject (cpu.c, memory.c, network.c,
 * disk.c). A parser of a descriptor serves calls that open and close it, and readers, which keep it
 * open; `path` is for messages. A parser of a line returns false if the kernel does not write such
 * a line; its newline must be at line.end. No input may crash a parser.
 */
#pragma once

#include "../text.h"

#include <camp/camp.h>

/* Parses the id of "cpu  1 2 3 4" or "cpu7 1 2 3 4", and leaves the rest in *line. */
bool camp_cpu_id_of(struct cursor *line, int32_t *ret_cpu);
/* The columns behind the id, in ticks of 1/ticks_per_second. Sets all but cpu and time_ns. */
bool camp_cpu_columns(struct cursor line, uint64_t ticks_per_second, struct camp_cpu *ret);
int camp_cpu_scan(int descriptor, const char *path, struct camp_cpu *cpus, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error);

/* Finds the line `processes N` in a part of /proc/stat. False: it is not there, or truncated. */
bool camp_parse_fork_count(const char *bytes, size_t length, uint64_t *ret_count);

int camp_memory_scan(int descriptor, const char *path, struct camp_memory *ret,
                     struct camp_error *error);

bool camp_network_line(struct cursor line, struct camp_network *ret);
int camp_network_scan(int descriptor, const char *path, struct camp_network *networks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error);

/* Parses the columns that start with the number of reads, as in /proc/diskstats and
 * /sys/class/block/NAME/stat, into a *ret that is zero. */
bool camp_disk_columns(struct cursor line, struct camp_disk *ret);
/* Parses a line of /proc/diskstats into a *ret that is zero. Sets all but kind and time_ns. */
bool camp_disk_line(struct cursor line, struct camp_disk *ret);
/* Does the kernel name a partition of `disk` in this way? */
bool camp_disk_is_partition_name(const char *disk, const char *name);
int camp_disk_scan(int descriptor, const char *path, int kind, struct camp_disk *disks, size_t size,
                   size_t capacity, size_t *ret_count, struct camp_error *error);

/* The values of reader->kind. Passing a reader to the function of another kind is CAMP_E_INVALID.
 */
enum camp_reader_kind {
    CAMP_READER_CPUS = 1,
    CAMP_READER_MEMORY = 2,
    CAMP_READER_NETWORKS = 3,
    CAMP_READER_DISKS = 4,
    CAMP_READER_PROCESS = 5
};
