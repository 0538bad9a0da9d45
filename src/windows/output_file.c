/*
 * Output files on Windows. As on Linux, a file is written under a temporary name in its folder, and
 * replaces the old one when it is complete. It has the rights that its folder gives: Windows
 * inherits them. Links are followed by the system.
 */
#include "program/output_file.h"
#include "windows.h"

#include "ledger/words.h"
#include "program/command.h"

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

static int complain_of_file(const char *path, int system_error)
{
    if (strcmp(path, "-") == 0 || system_error == EPIPE)
        return output_failed(system_error);
    return complain(STATUS_FAILURE, "cannot write %s: %s", path, output_problem(system_error));
}

int output_folder_check(const char *path)
{
    const int length = (int)(basename(path) - path);
    struct stat status;
    char *folder;
    bool exists;

    if (length == 0)
        return STATUS_OK;
    /* stat() does not find "folder/", but "folder/." */
    if (asprintf(&folder, "%.*s.", length, path) < 0)
        return complain_of_file(path, ENOMEM);
    exists = stat(folder, &status) == 0;
    free(folder);
    if (!exists)
        return complain(STATUS_FAILURE, "cannot write %s: there is no folder %.*s", path, length,
                        path);
    return STATUS_OK;
}

bool output_file_is_page(const char *path)
{
    return strcmp(path, "-") == 0 || ends_with_any_case(path, ".html") ||
           ends_with_any_case(path, ".htm");
}

static void release(struct output_file *file)
{
    free(file->part);
    *file = (struct output_file){ .place.folder = -1 };
}

int output_file_open(struct output_file *file, const char *path)
{
    int descriptor = -1;

    *file = (struct output_file){ .path = path, .place.folder = -1 };
    if (strcmp(path, "-") == 0) {
        descriptor = dup(STDOUT_FILENO);
    } else if (asprintf(&file->part, "%s.%lu.part", path, GetCurrentProcessId()) < 0) {
        file->part = NULL;
        errno = ENOMEM;
    } else {
        /* Removes a file that a killed process with the same pid left. */
        unlink(file->part);
        descriptor = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_BINARY | O_CLOEXEC, 0666);
    }
    file->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file->stream == NULL) {
        const int system_error = errno;

        if (descriptor >= 0)
            close(descriptor);
        if (system_error != ENOENT || output_folder_check(path) == STATUS_OK)
            complain_of_file(path, system_error);
        release(file);
        return STATUS_FAILURE;
    }
    return STATUS_OK;
}

int output_file_fail(struct output_file *file, int system_error)
{
    const int status = complain_of_file(file->path, system_error);

    output_file_discard(file);
    return status;
}

/* rename() of the C library replaces no file. */
static int replace(const char *from, const char *to)
{
    DWORD failure;

    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return 0;
    failure = GetLastError();
    return failure == ERROR_ACCESS_DENIED || failure == ERROR_SHARING_VIOLATION ? EACCES : EIO;
}

int output_file_finish(struct output_file *file)
{
    int system_error = 0;

    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        return output_file_fail(file, errno != 0 ? errno : EIO);
    if (fclose(file->stream) != 0)
        system_error = errno;
    file->stream = NULL;
    if (system_error == 0 && file->part != NULL)
        system_error = replace(file->part, file->path);
    if (system_error != 0)
        return output_file_fail(file, system_error);
    release(file);
    return STATUS_OK;
}

void output_file_discard(struct output_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->part != NULL)
        unlink(file->part);
    release(file);
}
