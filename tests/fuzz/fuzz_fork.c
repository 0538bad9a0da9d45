/* Parser: src/counters/linux/cpu.c */
/* Searches any bytes for the line `processes` of /proc/stat. */
#define _GNU_SOURCE 1 /* for memmem(3) */
#include "counters/linux/parse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t count = 0;

    if (camp_parse_fork_count((const char *)data, size, &count) &&
        memmem(data, size, "\nprocesses ", 11) == NULL)
        abort();
    return 0;
}
