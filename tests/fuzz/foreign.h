/* Passes the bytes of the fuzzer to the parsers of /proc and /sys: as a file in memory, as each
 * file below a folder, or as a line that ends with a newline. */
#pragma once

#include "counters/linux/parse.h"

#include <camp/camp.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOREIGN_FOLDER "/foreign"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct camp_source foreign_source = { .proc = FOREIGN_FOLDER, .sys = FOREIGN_FOLDER };
static int foreign_descriptor = -1;

/* Each file of foreign_source gets these bytes. A reader of one of them may stay open. */
static inline void foreign_file(const uint8_t *data, size_t size)
{
    if (foreign_descriptor < 0)
        foreign_descriptor = memfd_create("foreign", MFD_CLOEXEC);
    if (foreign_descriptor < 0 || ftruncate(foreign_descriptor, (off_t)size) < 0 ||
        pwrite(foreign_descriptor, data, size, 0) != (ssize_t)size)
        abort();
}

/* Replaces open(2). The library opens its files by it, so each file of foreign_source has the bytes
 * of the last foreign_file(). */
int open(const char *path, int flags, ...)
{
    char file[32];
    va_list arguments;
    mode_t mode = 0;

    va_start(arguments, flags);
    if ((flags & (O_CREAT | O_TMPFILE)) != 0)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    snprintf(file, sizeof file, "/proc/self/fd/%d", foreign_descriptor);
    if (strncmp(path, FOREIGN_FOLDER "/", sizeof FOREIGN_FOLDER) == 0)
        path = file;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* Copies the bytes and appends a newline. A sanitizer detects reads past the newline. The caller
 * must free the copy. */
static inline char *foreign_line(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);

    if (bytes == NULL)
        abort();
    if (size != 0)
        memcpy(bytes, data, size);
    bytes[size] = '\n';
    return bytes;
}
