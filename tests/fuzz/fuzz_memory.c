/* Parser: src/counters/linux/memory.c */
/* Parses any bytes as the file /proc/meminfo. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct camp_reader reader = foreign_reader(data, size, CAMP_READER_MEMORY);
    struct camp_memory memory;

    (void)camp_memory_read(NULL, CAMP_MEMORY_FREE, &memory, sizeof memory, NULL);
    (void)camp_memory_read(&foreign_source, UINT32_MAX, &memory, sizeof memory, NULL);
    if (camp_reader_memory(&reader, &memory, sizeof memory, NULL) != CAMP_OK)
        return 0;
    if ((memory.known & CAMP_MEMORY_TOTAL) == 0 || memory.total_bytes % 1024 != 0)
        abort();
    if ((memory.known & CAMP_MEMORY_CACHED) == 0 && memory.cached_bytes != 0)
        abort();
    return 0;
}
