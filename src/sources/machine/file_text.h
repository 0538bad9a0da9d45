#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Reads up to `capacity` bytes from the start of a file into `ret`, and adds no NUL. Returns the
 * number of bytes read, or -1 with errno set. */
ssize_t file_text(const char *path, char *ret, size_t capacity);
