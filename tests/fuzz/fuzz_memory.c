/* Parser: src/counters/linux/memory.c */
/* Parses any bytes as the file /proc/meminfo. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct camp_reader reader;
    static int opened = CAMP_E_GONE;
    struct camp_memory memory;

    foreign_file(data, size);
    if (opened != CAMP_OK)
        opened = camp_reader_open_memory(&reader, &foreign_source, NULL);
    (void)camp_memory_read(NULL, CAMP_MEMORY_FREE, &memory, sizeof memory, NULL);
    (void)camp_memory_read(&foreign_source, UINT32_MAX, &memory, sizeof memory, NULL);
    if (camp_reader_memory(&reader, CAMP_MEMORY_ALL, &memory, sizeof memory, NULL) != CAMP_OK)
        return 0;
    if ((memory.known & CAMP_MEMORY_TOTAL) == 0 || memory.total_bytes % 1024 != 0)
        abort();
    if ((memory.known & CAMP_MEMORY_CACHED) == 0 && memory.cached_bytes != 0)
        abort();
    return 0;
}
