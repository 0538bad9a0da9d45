/*
 * Physical memory, from the kstat unix:0:system_pages (system_pages_kstat_update() of
 * uts/common/os/kstat_fr.c). All values are numbers of pages.
 *
 * total is physmem and free is freemem. On this system, free pages include the cache list: pages of
 * files that no process maps any more. The kernel does not report its length, so free_bytes is an
 * upper limit of the pages that have no use at all. The cache of ZFS is kernel memory, and is not
 * in free_bytes. The kernel has no estimate of the memory that a new program can get: available is
 * unknown. Buffers and cached are not in kstats: unknown. For swap and promised memory see swap.c.
 */
#include "readers.h"

#include "../error.h"

#include <unistd.h>

int camp_memory_scan(kstat_ctl_t *control, uint32_t wanted, struct camp_memory *ret,
                     struct camp_error *error)
{
    const long page_bytes = sysconf(_SC_PAGESIZE);
    kstat_t *pages = camp_kstat_of_unix(control, "system_pages");
    int r;

    if (pages == NULL || page_bytes <= 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "the kstat unix:0:system_pages is not visible in this zone");
    r = camp_kstat_read(control, pages, error);
    if (r != CAMP_OK)
        return r;
    *ret = (struct camp_memory){ .time_ns = (uint64_t)pages->ks_snaptime };
    camp_kstat_number(pages, "physmem", CAMP_MEMORY_TOTAL, &ret->total_bytes, &ret->known);
    camp_kstat_number(pages, "freemem", CAMP_MEMORY_FREE, &ret->free_bytes, &ret->known);
    if (__builtin_mul_overflow(ret->total_bytes, (uint64_t)page_bytes, &ret->total_bytes) ||
        __builtin_mul_overflow(ret->free_bytes, (uint64_t)page_bytes, &ret->free_bytes))
        return camp_fail(error, CAMP_E_FORMAT, 0, "system_pages has a number over 64 bits");
    camp_swap_read(wanted, ret);
    return CAMP_OK;
}

int camp_memory_read(const struct camp_source *source, uint32_t wanted, struct camp_memory *ret,
                     size_t size, struct camp_error *error)
{
    struct camp_memory memory;
    kstat_ctl_t *control;
    int r;

    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = camp_memory_scan(control, wanted, &memory, error);
    camp_kstats_close(control);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &memory, sizeof memory);
    return r;
}
