/*
 * Swap, and the memory that the system has promised, by swapctl(2). The kstat unix:0:vminfo has
 * sums of such values, one added in each second, so it has no level of this moment.
 *
 * SC_AINFO counts anonymous memory, which has no file behind it, in pages: promised (ani_resv) and
 * how much can be (ani_max: the swap areas and the physical memory that is not locked). swap(8)
 * calls these "used", and "used" + "available". SC_LIST has the swap areas. In a zone both are of
 * the zone, if it has a limit of its own.
 */
#include "readers.h"

#include <limits.h>
#include <sys/swap.h>
#include <unistd.h>

#define AREAS_MAX 64
#define AREAS_BYTES (offsetof(swaptbl_t, swt_ent) + AREAS_MAX * sizeof(swapent_t))

static bool bytes_of(uint64_t pages, uint64_t *ret)
{
    const long page_bytes = sysconf(_SC_PAGESIZE);

    return page_bytes > 0 && !__builtin_mul_overflow(pages, (uint64_t)page_bytes, ret);
}

static void read_promised(struct camp_memory *ret)
{
    struct anoninfo info;

    if (swapctl(SC_AINFO, &info) < 0)
        return;
    if (bytes_of(info.ani_resv, &ret->committed_bytes))
        ret->known |= CAMP_MEMORY_COMMITTED;
    if (bytes_of(info.ani_max, &ret->commit_limit_bytes))
        ret->known |= CAMP_MEMORY_COMMIT_LIMIT;
}

/* The kernel copies the path of each area to ste_path. The paths are not needed, so all areas have
 * the same. */
static void read_areas(struct camp_memory *ret)
{
    _Alignas(swaptbl_t) char bytes[AREAS_BYTES];
    swaptbl_t *table = (void *)bytes;
    swapent_t *areas = table->swt_ent;
    uint64_t pages = 0, unused = 0;
    char path[PATH_MAX + 1];
    int count;

    table->swt_n = AREAS_MAX;
    for (size_t i = 0; i < AREAS_MAX; i++)
        areas[i] = (swapent_t){ .ste_path = path };
    count = swapctl(SC_LIST, table);
    if (count < 0)
        return; /* also if there are more areas */
    for (int i = 0; i < count; i++) {
        pages += (uint64_t)areas[i].ste_pages;
        unused += (uint64_t)areas[i].ste_free;
    }
    if (bytes_of(pages, &ret->swap_total_bytes))
        ret->known |= CAMP_MEMORY_SWAP_TOTAL;
    if (bytes_of(unused, &ret->swap_free_bytes))
        ret->known |= CAMP_MEMORY_SWAP_FREE;
}

void camp_swap_read(uint32_t wanted, struct camp_memory *ret)
{
    if ((wanted & (CAMP_MEMORY_COMMITTED | CAMP_MEMORY_COMMIT_LIMIT)) != 0)
        read_promised(ret);
    if ((wanted & (CAMP_MEMORY_SWAP_TOTAL | CAMP_MEMORY_SWAP_FREE)) != 0)
        read_areas(ret);
}
