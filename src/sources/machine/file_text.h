/* The text of a small file. */
#ifndef CAMP_SOURCES_MACHINE_FILE_TEXT_H
#define CAMP_SOURCES_MACHINE_FILE_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/* Up to `capacity` bytes of its beginning into `ret`, no final NUL: how many. -1: errno says why
 * not. */
ssize_t file_text(const char *path, char *ret, size_t capacity);

#endif
