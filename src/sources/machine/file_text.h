/* Reads a small file. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Reads up to `capacity` bytes from the start of a file into `ret`, without a final NUL; returns
 * the number of bytes read. -1: errno says why. */
ssize_t file_text(const char *path, char *ret, size_t capacity);
