/*
 * The parsers of the system's files, each in the file of its subject (cpu.c, memory.c, network.c,
 * disk.c). A parser of a descriptor serves calls that open and close it, and readers, which keep it
 * open; `path` is for messages. A parser of a line returns false if the kernel does not write such
 * a line; its newline must be at line.end. No input may crash a parser.
 */
#pragma once

#include "../text.h"

#include <camp/camp.h>

/* "cpu  1 2 3 4" or "cpu7 1 2 3 4": the id, and what follows it stays in *line. */
bool camp_cpu_id_of(struct cursor *line, int32_t *ret_cpu);
/* The columns behind the id, in ticks of 1/ticks_per_second. Sets all but cpu and time_ns. */
bool camp_cpu_columns(struct cursor line, uint64_t ticks_per_second, struct camp_cpu *ret);
int camp_cpu_scan(int descriptor, const char *path, struct camp_cpu *cpus, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error);

/* Finds the line `processes N` in a piece of /proc/stat. False: it is not there, or cut. */
bool camp_parse_fork_count(const char *bytes, size_t length, uint64_t *ret_count);

int camp_memory_scan(int descriptor, const char *path, struct camp_memory *ret,
                     struct camp_error *error);

bool camp_network_line(struct cursor line, struct camp_network *ret);
int camp_network_scan(int descriptor, const char *path, struct camp_network *networks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error);

/* The columns from the reads on, as in /proc/diskstats and /sys/class/block/NAME/stat, into a *ret
 * that is zero. */
bool camp_disk_columns(struct cursor line, struct camp_disk *ret);
/* A line of /proc/diskstats, into a *ret that is zero. Sets all but kind and time_ns. */
bool camp_disk_line(struct cursor line, struct camp_disk *ret);
/* Whether `name` is how the kernel would name a partition of `disk`. */
bool camp_disk_is_partition_name(const char *disk, const char *name);
int camp_disk_scan(int descriptor, const char *path, int kind, struct camp_disk *disks, size_t size,
                   size_t capacity, size_t *ret_count, struct camp_error *error);

/* The number is in reader->kind; a reader of one kind that is passed to the function of another is
 * CAMP_E_INVALID. */
enum camp_reader_kind {
    CAMP_READER_CPUS = 1,
    CAMP_READER_MEMORY = 2,
    CAMP_READER_NETWORKS = 3,
    CAMP_READER_DISKS = 4,
    CAMP_READER_PROCESS = 5
};
