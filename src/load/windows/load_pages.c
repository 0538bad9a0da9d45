/* Pages of a file leave the working set of the process when their view is unmapped. They stay in
 * memory, so the next touch is a page fault that waits for no disk. */
#include "load/load_pages.h"
#include "load_system.h"

#include "counters/error.h"
#include "load/load_file.h"

#include <psapi.h>

#define ASKED_PAGES 1024u

size_t load_page_bytes(void)
{
    SYSTEM_INFO system;

    GetSystemInfo(&system);
    return system.dwPageSize;
}

/* Windows uses no huge pages for such memory. */
void *load_pages_take(size_t bytes, bool huge)
{
    (void)huge;
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void load_pages_release(void *memory, size_t bytes)
{
    (void)bytes;
    VirtualFree(memory, 0, MEM_RELEASE);
}

bool load_pages_resident(void *memory, size_t bytes, size_t page, uint64_t *ret_bytes)
{
    PSAPI_WORKING_SET_EX_INFORMATION asked[ASKED_PAGES];
    const size_t pages = bytes / page;

    *ret_bytes = 0;
    for (size_t first = 0; first < pages; first += ASKED_PAGES) {
        const size_t count = pages - first < ASKED_PAGES ? pages - first : ASKED_PAGES;

        for (size_t i = 0; i < count; i++)
            asked[i].VirtualAddress = (char *)memory + (first + i) * page;
        if (!K32QueryWorkingSetEx(GetCurrentProcess(), asked, (DWORD)(count * sizeof asked[0])))
            return false;
        for (size_t i = 0; i < count; i++)
            *ret_bytes += asked[i].VirtualAttributes.Valid ? page : 0;
    }
    return true;
}

/* Writes whole pages to a new temporary file. */
static int fill(const struct load_file *file, size_t page, uint64_t pages, struct camp_error *error)
{
    void *zeros = load_pages_take(page, false);
    int failed = zeros != NULL ? 0 : ERROR_NOT_ENOUGH_MEMORY;

    for (uint64_t i = 0; i < pages && failed == 0; i++)
        load_file_move(file, true, zeros, page, i * page, &failed);
    if (zeros != NULL)
        load_pages_release(zeros, page);
    return failed == 0 ? CAMP_OK : load_file_failed(file, failed, error);
}

static int map_view(struct load_map *map, struct camp_error *error)
{
    map->memory =
        MapViewOfFile((HANDLE)map->section, FILE_MAP_READ, 0, 0, map->pages * map->page_bytes);
    return map->memory != NULL ? CAMP_OK : windows_failed(error, GetLastError(), map->name);
}

int load_map_open(struct load_map *ret, const char *path, uint64_t pages, uint64_t pages_max,
                  struct camp_error *error)
{
    HANDLE section, reading, writing;
    struct load_file file;
    int r;

    *ret = (struct load_map){ .page_bytes = load_page_bytes(),
                              .name = path != NULL ? path : load_folder(),
                              .section = -1,
                              .ends = { -1, -1 } };
    r = path != NULL ? load_file_open_existing(&file, path, error)
                     : load_file_open(&file, NULL, false, false, error);
    ret->file = file.handle;
    pages = path != NULL ? file.bytes / ret->page_bytes : pages < pages_max ? pages : pages_max;
    if (r == CAMP_OK && path == NULL)
        r = fill(&file, ret->page_bytes, pages, error);
    if (r != CAMP_OK)
        return r;
    if (pages == 0)
        return camp_fail(error, CAMP_E_IO, 0, "%s is not a file of at least one page", ret->name);
    ret->pages = (size_t)(pages < pages_max ? pages : pages_max);
    section = CreateFileMappingA((HANDLE)ret->file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (section == NULL)
        return windows_failed(error, GetLastError(), ret->name);
    ret->section = (intptr_t)section;
    if (!CreatePipe(&reading, &writing, NULL, 0))
        return windows_failed(error, GetLastError(), "a pipe");
    ret->ends[0] = (intptr_t)reading;
    ret->ends[1] = (intptr_t)writing;
    return map_view(ret, error);
}

static void unmap(struct load_map *map)
{
    if (map->memory != NULL)
        UnmapViewOfFile(map->memory);
    map->memory = NULL;
}

void load_map_close(struct load_map *map)
{
    const intptr_t handles[] = { map->section, map->file, map->ends[0], map->ends[1] };

    unmap(map);
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++)
        if (handles[i] != -1)
            CloseHandle((HANDLE)handles[i]);
}

int load_map_evict(struct load_map *map, struct camp_error *error)
{
    unmap(map);
    return map_view(map, error);
}

bool load_map_touch(const struct load_map *map, size_t page, bool in_call)
{
    const char *at = map->memory + page * map->page_bytes;
    DWORD length;
    char byte;

    if (!in_call) {
        (void)*(const volatile char *)at;
        return true;
    }
    return WriteFile((HANDLE)map->ends[1], at, 1, &length, NULL) &&
           ReadFile((HANDLE)map->ends[0], &byte, 1, &length, NULL);
}
