/*
 * Memory, by GlobalMemoryStatusEx() and GetPerformanceInfo(), and the page files, which are the
 * swap of Windows.
 *
 * Memory without any contents (free_bytes) needs a privilege of administrators to be read, and what
 * Windows calls the cache contains also pages of programs, so both are unknown.
 */
#include "shared.h"

#include "../platform.h"

#include <psapi.h>

#define PAGE_FILES_SIZE 8192 /* bytes: there are up to 16 page files, each with a path */

static uint64_t page_bytes(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwPageSize;
}

/* Adds up the page files. A system without a page file has no record. */
static void add_page_files(struct camp_memory *memory)
{
    _Alignas(8) char bytes[PAGE_FILES_SIZE];
    const uint64_t unit = page_bytes();
    ULONG length = 0;

    if (native_failed(NtQuerySystemInformation(OF_PAGE_FILES, bytes, sizeof bytes, &length)))
        return;
    memory->known |= CAMP_MEMORY_SWAP_TOTAL | CAMP_MEMORY_SWAP_FREE;
    for (size_t at = 0; at + sizeof(struct native_page_file) <= length;) {
        const struct native_page_file *file = (const void *)(bytes + at);

        memory->swap_total_bytes += unit * file->total;
        memory->swap_free_bytes += unit * (file->total - file->in_use);
        if (file->next == 0)
            break;
        at += file->next;
    }
}

/* The commit charge: what all programs together may fill, in memory or in page files. */
static void add_commit(struct camp_memory *memory)
{
    PERFORMANCE_INFORMATION info = { .cb = sizeof info };

    if (camp_is_imitation() || !K32GetPerformanceInfo(&info, sizeof info))
        return;
    memory->known |= CAMP_MEMORY_COMMITTED | CAMP_MEMORY_COMMIT_LIMIT;
    memory->committed_bytes = (uint64_t)info.CommitTotal * info.PageSize;
    memory->commit_limit_bytes = (uint64_t)info.CommitLimit * info.PageSize;
}

static int scan(struct camp_memory *ret, struct camp_error *error)
{
    MEMORYSTATUSEX status = { .dwLength = sizeof status };

    if (!GlobalMemoryStatusEx(&status))
        return camp_fail_windows(error, GetLastError(), "GlobalMemoryStatusEx");
    *ret = (struct camp_memory){
        .known = CAMP_MEMORY_TOTAL | CAMP_MEMORY_AVAILABLE,
        .time_ns = camp_now_ns(),
        .total_bytes = status.ullTotalPhys,
        .available_bytes = status.ullAvailPhys,
    };
    add_page_files(ret);
    add_commit(ret);
    return CAMP_OK;
}

int camp_memory_read(const struct camp_source *source, uint32_t wanted, struct camp_memory *ret,
                     size_t size, struct camp_error *error)
{
    struct camp_memory memory;
    int r = camp_this_machine_only(source, error);

    (void)wanted;
    if (r < 0)
        return r;
    if (camp_is_null(error, ret))
        return CAMP_E_INVALID;
    r = scan(&memory, error);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &memory, sizeof memory);
    return r;
}
