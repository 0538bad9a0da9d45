/*
 * Output files on Windows. As on Linux, a file is written under a temporary name in its folder, and
 * replaces the old one when it is complete. It has the rights that its folder gives: Windows
 * inherits them. Links are followed by the system.
 */
#include "program/output_part.h"
#include "windows.h"

#include <errno.h>
#include <sys/stat.h>

const char *output_problem(int system_error)
{
    return strerror(system_error);
}

/* Windows has several errors for a pipe without a reader, for most of which the C library sets
 * EINVAL. */
bool output_is_closed(int system_error)
{
    const HANDLE output = (HANDLE)_get_osfhandle(STDOUT_FILENO);

    return system_error == EPIPE ||
           (system_error == EINVAL && GetFileType(output) == FILE_TYPE_PIPE);
}

/* The path itself is the place. */
void output_place_release(struct output_place *place)
{
    (void)place;
}

int output_copy_stdout(void)
{
    const int copy = dup(STDOUT_FILENO);

    if (copy >= 0)
        SetHandleInformation((HANDLE)_get_osfhandle(copy), HANDLE_FLAG_INHERIT, 0);
    return copy;
}

int output_part_open(struct output_file *file)
{
    struct stat status;

    /* The system refuses only at the end to replace a folder by a file. */
    if (stat(file->path, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (asprintf(&file->part, "%s.%lu.part", file->path, GetCurrentProcessId()) < 0) {
        file->part = NULL;
        errno = ENOMEM;
        return -1;
    }
    /* Removes a file that a killed process with the same pid left. */
    unlink(file->part);
    return open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_BINARY | O_CLOEXEC, 0666);
}

/* rename() of the C library replaces no file. */
int output_part_replace(const struct output_file *file)
{
    DWORD failure;

    if (MoveFileExA(file->part, file->path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return 0;
    failure = GetLastError();
    return failure == ERROR_ACCESS_DENIED || failure == ERROR_SHARING_VIOLATION ? EACCES : EIO;
}

void output_part_remove(const struct output_file *file)
{
    unlink(file->part);
}
