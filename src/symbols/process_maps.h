/* The executable mappings of a process, as /proc/PID/maps has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* in the file */
    uint32_t device_major, device_minor;
    uint64_t inode;   /* 0: no file */
    const char *path; /* such as "/usr/bin/postgres" or "[vdso]"; "": no file */
};

/* An all-zero struct is empty. */
struct process_maps {
    struct mapping *items; /* [count], ascending */
    size_t count, capacity;
    char *text; /* owned; the paths are parts of it */
    size_t text_capacity;
};

/* Parses text[length], which it changes, and which must have space for one more byte. Lines that
 * are damaged or out of order are left out. Returns false if there is no memory. */
bool process_maps_parse(struct process_maps *ret, char *text, size_t length);

/* Reads a file such as /proc/PID/maps. Returns false, and leaves *ret alone, if it cannot be read,
 * is empty or larger than 64 MB, or if there is no memory. */
bool process_maps_read(struct process_maps *ret, const char *path);

/* Returns the mapping that contains an address, or NULL. */
const struct mapping *process_maps_find(const struct process_maps *maps, uint64_t address);

void process_maps_release(struct process_maps *maps);
