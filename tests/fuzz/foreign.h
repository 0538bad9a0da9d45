/* Passes the bytes of the fuzzer to the parsers of /proc and /sys: as a file in memory, or as a
 * line that ends with a newline. */
#pragma once

#include "counters/linux/parse.h"

#include <camp/camp.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct camp_reader foreign_reader(const uint8_t *data, size_t size, int32_t kind)
{
    static int descriptor = -1;

    if (descriptor < 0)
        descriptor = memfd_create("foreign", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) < 0 ||
        pwrite(descriptor, data, size, 0) != (ssize_t)size)
        abort();
    return (struct camp_reader){ .descriptor = descriptor, .kind = kind };
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
