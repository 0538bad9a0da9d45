/* memory: how much memory and swap this computer has, and how much of each is free. */
#include <camp/camp.h>

#include <stdio.h>

static void print(const char *name, uint32_t known, uint64_t bytes)
{
    if (known != 0)
        printf("%-12s %12.1f MB\n", name, (double)bytes / 1e6);
    else
        printf("%-12s %12s\n", name, "unknown");
}

int main(void)
{
    struct camp_error error = { 0 };
    struct camp_memory memory;

    if (camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, &error) < 0) {
        fprintf(stderr, "memory: %s\n", error.message);
        return 1;
    }
    print("total", memory.known & CAMP_MEMORY_TOTAL, memory.total_bytes);
    print("available", memory.known & CAMP_MEMORY_AVAILABLE, memory.available_bytes);
    print("free", memory.known & CAMP_MEMORY_FREE, memory.free_bytes);
    print("cached", memory.known & CAMP_MEMORY_CACHED, memory.cached_bytes);
    print("committed", memory.known & CAMP_MEMORY_COMMITTED, memory.committed_bytes);
    print("swap total", memory.known & CAMP_MEMORY_SWAP_TOTAL, memory.swap_total_bytes);
    print("swap free", memory.known & CAMP_MEMORY_SWAP_FREE, memory.swap_free_bytes);
    return 0;
}
