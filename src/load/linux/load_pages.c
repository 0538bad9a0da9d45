/*
 * mincore(2) tells which pages are resident.
 *
 * A page of a file is evicted if it is unmapped (MADV_DONTNEED) and removed from the page cache
 * (posix_fadvise(2)). There is no read-ahead (MADV_RANDOM), so the disk must serve each fault. If
 * the file cannot be evicted, because it is on tmpfs or in use by another process, there are no
 * major faults.
 */
#include "load/load_pages.h"

#include "counters/error.h"
#include "load/load_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINCORE_PAGES 4096u

size_t load_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *load_pages_take(size_t bytes, bool huge)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    if (!huge)
        madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

void load_pages_release(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

bool load_pages_resident(void *memory, size_t bytes, size_t page, uint64_t *ret_bytes)
{
    unsigned char flags[MINCORE_PAGES];

    *ret_bytes = 0;
    for (size_t at = 0; at < bytes; at += MINCORE_PAGES * page) {
        size_t span = bytes - at < MINCORE_PAGES * page ? bytes - at : MINCORE_PAGES * page;

        if (mincore((char *)memory + at, span, flags) != 0)
            return false;
        for (size_t i = 0; i < span / page; i++)
            *ret_bytes += flags[i] & 1 ? page : 0;
    }
    return true;
}

static int open_file(struct load_map *map, const char *path, uint64_t pages, uint64_t pages_max,
                     struct camp_error *error)
{
    struct stat facts;

    map->file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                             : load_make_filled(pages * map->page_bytes);
    if (map->file < 0 || fstat((int)map->file, &facts) != 0)
        return camp_fail_errno(error, errno, map->name);
    if (!S_ISREG(facts.st_mode) || (uint64_t)facts.st_size < map->page_bytes)
        return camp_fail(error, CAMP_E_IO, 0, "%s is not a file of at least one page", map->name);
    pages = (uint64_t)facts.st_size / map->page_bytes;
    map->pages = (size_t)(pages < pages_max ? pages : pages_max);
    return CAMP_OK;
}

int load_map_open(struct load_map *ret, const char *path, uint64_t pages, uint64_t pages_max,
                  struct camp_error *error)
{
    void *mapped;
    int ends[2], r;

    *ret = (struct load_map){ .page_bytes = load_page_bytes(),
                              .name = path != NULL ? path : load_folder(),
                              .file = -1,
                              .section = -1,
                              .ends = { -1, -1 } };
    r = open_file(ret, path, pages < pages_max ? pages : pages_max, pages_max, error);
    if (r != CAMP_OK)
        return r;
    mapped = mmap(NULL, ret->pages * ret->page_bytes, PROT_READ, MAP_PRIVATE, (int)ret->file, 0);
    if (mapped == MAP_FAILED)
        return camp_fail_errno(error, errno, ret->name);
    ret->memory = mapped;
    if (madvise(mapped, ret->pages * ret->page_bytes, MADV_RANDOM) != 0)
        return camp_fail_errno(error, errno, "read-ahead that is off");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return camp_fail_errno(error, errno, "a pipe");
    ret->ends[0] = ends[0];
    ret->ends[1] = ends[1];
    return CAMP_OK;
}

void load_map_close(struct load_map *map)
{
    if (map->memory != NULL)
        munmap((void *)(uintptr_t)map->memory, map->pages * map->page_bytes);
    for (int i = 0; i < 2; i++)
        if (map->ends[i] >= 0)
            close((int)map->ends[i]);
    if (map->file >= 0)
        close((int)map->file);
}

int load_map_evict(struct load_map *map, struct camp_error *error)
{
    madvise((void *)(uintptr_t)map->memory, map->pages * map->page_bytes, MADV_DONTNEED);
    return load_drop_from_memory((int)map->file) ? CAMP_OK
                                                 : camp_fail_errno(error, errno, map->name);
}

bool load_map_touch(const struct load_map *map, size_t page, bool in_call)
{
    const char *at = map->memory + page * map->page_bytes;
    char byte;

    if (!in_call) {
        (void)*(const volatile char *)at;
        return true;
    }
    return write((int)map->ends[1], at, 1) == 1 && read((int)map->ends[0], &byte, 1) == 1;
}
