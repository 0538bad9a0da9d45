/* Parser: src/counters/linux/process_stat.c */
/* Parses any bytes as /proc/PID/io. */
#include "counters/linux/process.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    char *bytes = malloc(size > 0 ? size : 1);
    struct io_bytes sums;

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    camp_io_parse(cursor_of(bytes, size), &sums);
    free(bytes);
    return 0;
}
