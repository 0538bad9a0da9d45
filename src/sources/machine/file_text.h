/* The text of a small file. */
#ifndef CAMP_SOURCES_MACHINE_FILE_TEXT_H
#define CAMP_SOURCES_MACHINE_FILE_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* Reads up to `capacity` bytes from the start of a file into `ret`, without a final NUL; returns
 * their number. -1: errno says why. */
ssize_t file_text(const char *path, char *ret, size_t capacity);

#endif
