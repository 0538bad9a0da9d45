/* libcamp's listing functions behind one signature, and room for whatever they list. */
#pragma once

#include <camp/camp.h>

#include <stddef.h>

/* Where to list, and the other arguments, of the functions that take them. */
struct listing {
    const struct camp_source *source;
    int disk_kind;                      /* fill_disks */
    const struct camp_process *process; /* fill_threads */
    const char *executable;             /* fill_processes; NULL: all of them */
};

typedef int fill_function(const struct listing *listing, void *array, size_t capacity,
                          size_t *ret_count, struct camp_error *error);

fill_function fill_cpu_ids;   /* int32_t */
fill_function fill_cpus;      /* struct camp_cpu */
fill_function fill_networks;  /* struct camp_network */
fill_function fill_disks;     /* struct camp_disk */
fill_function fill_processes; /* struct camp_process */
fill_function fill_threads;   /* struct camp_thread */

/* Calls `fill` with more and more room until all fits: *ret, elements of `size` bytes, is to be
 * freed. On a failure it is NULL. */
int list_grow(fill_function *fill, const struct listing *listing, size_t size, void **ret,
              size_t *ret_count, struct camp_error *error);

/* Writes *error, returns the code. */
int library_fail(struct camp_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int library_fail_memory(struct camp_error *error);
