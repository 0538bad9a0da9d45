/* Memory in whole pages: of the program itself, and of files. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t load_page_bytes(void);

/* Returns zeroed memory that no page is resident of yet, or NULL. Without `huge`, the system uses
 * no huge pages for it. */
void *load_pages_take(size_t bytes, bool huge);
void load_pages_release(void *memory, size_t bytes);

/* Sets *ret_bytes to the part of the memory that is resident. Returns false if it is unknown. */
bool load_pages_resident(void *memory, size_t bytes, size_t page, uint64_t *ret_bytes);

/* A file whose pages are mapped read-only, and a pipe to which the kernel can copy them. */
struct load_map {
    const char *memory;
    size_t pages;
    size_t page_bytes;
    const char *name;       /* of the file, for messages */
    intptr_t file, section; /* -1 if there is none */
    intptr_t ends[2];
};

/* Maps the file `path`, or with NULL a new temporary file of `pages` pages. At most `pages_max`
 * pages are mapped. The caller must call load_map_close(), even after a failure. */
int load_map_open(struct load_map *ret, const char *path, uint64_t pages, uint64_t pages_max,
                  struct camp_error *error);
void load_map_close(struct load_map *map);

/* Lets the next touch of each page be a page fault. On Linux the pages are also evicted from the
 * page cache, so that these faults wait for the disk. */
int load_map_evict(struct load_map *map, struct camp_error *error);

/* Reads a byte of the page, or with in_call lets the kernel read it, in a write to the pipe.
 * Returns false if that was interrupted. */
bool load_map_touch(const struct load_map *map, size_t page, bool in_call);
