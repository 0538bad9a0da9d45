/* Parses any bytes as /proc/PID/io: the bytes that were read from storage and written to it. */
#include "counters/linux/process.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Of exactly this size, so that a read past the end is detected. */
    char *bytes = malloc(size > 0 ? size : 1);
    struct io_bytes sums;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    camp_io_parse(cursor_of(bytes, size), &sums);
    free(bytes);
    return 0;
}
