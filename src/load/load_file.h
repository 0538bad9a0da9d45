/* Files of the loads: temporary files, and eviction from the page cache. */
#ifndef CAMP_LOAD_LOAD_FILE_H
#define CAMP_LOAD_LOAD_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* The directory for temporary files: TMPDIR or /var/tmp, which is a disk more often than /tmp is.
 */
const char *load_folder(void);

/* Opens a new file there for reading and writing. It has no name, and vanishes when closed. -1 and
 * errno on failure. */
int load_make_nameless(void);

/* The same, full of zeros, on its disk and if possible not in memory. Shorter when a stop is
 * requested. */
int load_make_filled(uint64_t bytes);

/* Writes the file's dirty pages to the disk, then evicts it from the page cache, except for pages
 * mapped by others. False, with errno: could not be tried. */
bool load_drop_from_memory(int file);

#endif
