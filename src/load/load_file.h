/* Files of the loads: one that is gone at the end, and what of a file is in memory. */
#ifndef CAMP_LOAD_LOAD_FILE_H
#define CAMP_LOAD_LOAD_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Where files are made when no other place is named: TMPDIR or /var/tmp, which more often than /tmp
 * is a disk. */
const char *load_folder(void);

/* Opens a new file there, to be read and written. It has no name, and is gone when it is closed. -1
 * and errno: there is none. */
int load_make_nameless(void);

/* The same, full of zeros, on its disk and out of memory where that is possible. Ends early,
 * shorter, when a stop is requested. */
int load_make_filled(uint64_t bytes);

/* Puts the file out of the page cache, but for what somebody has mapped. Written pages are brought
 * to the disk first. False, with errno: it could not be tried. */
bool load_drop_from_memory(int file);

#endif
