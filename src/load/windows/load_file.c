/* A file that a load creates is removed when its handle is closed, by FILE_FLAG_DELETE_ON_CLOSE. */
#include "load/load_file.h"
#include "load_system.h"

#include "counters/error.h"

#define SHARING (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

const char *load_folder(void)
{
    static char folder[3 * MAX_PATH]; /* a path of MAX_PATH units, in UTF-8 */
    const DWORD length = GetTempPathA(sizeof folder, folder);

    return length > 0 && length < sizeof folder ? folder : ".";
}

int load_file_failed(const struct load_file *file, int system_error, struct camp_error *error)
{
    const char *name = file->path != NULL ? file->path : "the temporary file";

    if (system_error == ERROR_DISK_FULL || system_error == ERROR_HANDLE_DISK_FULL)
        return camp_fail(error, CAMP_E_IO, system_error,
                         "%s: the disk is full; give fewer --bytes, or a --file on another disk",
                         name);
    if (system_error == ERROR_INVALID_PARAMETER && file->direct)
        return camp_fail(error, CAMP_E_NOTSUP, system_error,
                         "%s: this disk has no direct I/O with this block size; try --block 4K",
                         name);
    return windows_failed(error, (DWORD)system_error, name);
}

static bool open_with(struct load_file *ret, const char *path, DWORD access, DWORD disposition,
                      DWORD flags)
{
    HANDLE handle;

    if (ret->direct)
        flags |= FILE_FLAG_NO_BUFFERING | FILE_FLAG_WRITE_THROUGH;
    handle = CreateFileA(path, access, SHARING, NULL, disposition, flags, NULL);
    ret->handle = handle != INVALID_HANDLE_VALUE ? (intptr_t)handle : -1;
    return handle != INVALID_HANDLE_VALUE;
}

static int open_existing(struct load_file *ret, struct camp_error *error)
{
    LARGE_INTEGER size;

    if (!open_with(ret, ret->path, GENERIC_READ, OPEN_EXISTING, 0))
        return load_file_failed(ret, (int)GetLastError(), error);
    if (GetFileType((HANDLE)ret->handle) != FILE_TYPE_DISK ||
        !GetFileSizeEx((HANDLE)ret->handle, &size))
        return camp_fail(error, CAMP_E_IO, 0, "%s is not a regular file", ret->path);
    ret->bytes = (uint64_t)size.QuadPart;
    return CAMP_OK;
}

int load_file_open_existing(struct load_file *ret, const char *path, struct camp_error *error)
{
    *ret = (struct load_file){ .handle = -1, .path = path };
    return open_existing(ret, error);
}

static int open_temporary(struct load_file *ret, struct camp_error *error)
{
    char path[3 * MAX_PATH]; /* a path of MAX_PATH units, in UTF-8 */
    DWORD failure;

    if (GetTempFileNameA(load_folder(), "camp", 0, path) == 0)
        return load_file_failed(ret, (int)GetLastError(), error);
    ret->created = open_with(ret, path, GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_ALWAYS,
                             FILE_FLAG_DELETE_ON_CLOSE);
    if (ret->created)
        return CAMP_OK;
    failure = GetLastError();
    DeleteFileA(path); /* GetTempFileNameA() created it */
    return load_file_failed(ret, (int)failure, error);
}

int load_file_open(struct load_file *ret, const char *path, bool write, bool direct,
                   struct camp_error *error)
{
    const DWORD all = GENERIC_READ | GENERIC_WRITE | DELETE;

    *ret = (struct load_file){ .handle = -1, .path = path, .direct = direct };
    if (path == NULL)
        return open_temporary(ret, error);
    ret->created = open_with(ret, path, all, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE);
    if (ret->created)
        return CAMP_OK;
    if (GetLastError() != ERROR_FILE_EXISTS)
        return load_file_failed(ret, (int)GetLastError(), error);
    if (write)
        return camp_fail(error, CAMP_E_IO, ERROR_FILE_EXISTS,
                         "%s exists, and --write never overwrites a file; give another name", path);
    return open_existing(ret, error);
}

void load_file_close(struct load_file *file)
{
    if (file->handle != -1)
        CloseHandle((HANDLE)file->handle);
    file->handle = -1;
}

int64_t load_file_move(const struct load_file *file, bool write, void *buffer, size_t bytes,
                       uint64_t offset, int *ret_error)
{
    OVERLAPPED at = { .Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32) };
    HANDLE handle = (HANDLE)file->handle;
    DWORD moved = 0;
    BOOL is_done = write ? WriteFile(handle, buffer, (DWORD)bytes, &moved, &at)
                         : ReadFile(handle, buffer, (DWORD)bytes, &moved, &at);

    *ret_error = is_done ? 0 : (int)GetLastError();
    if (*ret_error == ERROR_HANDLE_EOF) {
        *ret_error = 0;
        return 0;
    }
    return is_done ? (int64_t)moved : -1;
}

int load_file_flush(const struct load_file *file)
{
    return FlushFileBuffers((HANDLE)file->handle) ? 0 : (int)GetLastError();
}

/* Windows evicts no file on request, so this only flushes. */
int load_file_evict(const struct load_file *file)
{
    return load_file_flush(file);
}

bool load_storage_bytes(uint64_t *ret_bytes)
{
    (void)ret_bytes;
    return false;
}
