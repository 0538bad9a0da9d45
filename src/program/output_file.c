#include "output_file.h"

#include "command.h"
#include "ledger/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Complains about a failed write. A pipe that the reader closed is not a failure. */
static int complain_of_file(const char *path, int system_error)
{
    if (strcmp(path, "-") == 0 || system_error == EPIPE)
        return output_failed(system_error);
    return complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(system_error));
}

int output_folder_check(const char *path)
{
    const char *slash = strrchr(path, '/');
    const int length = slash == NULL ? 0 : slash == path ? 1 : (int)(slash - path);
    struct stat status;
    char *folder;
    int system_error = 0;

    if (slash == NULL)
        return STATUS_OK;
    folder = strndup(path, (size_t)length);
    if (folder == NULL || stat(folder, &status) != 0)
        system_error = errno;
    free(folder);
    if (system_error == ENOENT)
        return complain(STATUS_FAILURE, "cannot write %s: there is no folder %.*s", path, length,
                        path);
    return system_error == 0 ? STATUS_OK : complain_of_file(path, system_error);
}

static void release(struct output_file *file)
{
    free(file->target);
    free(file->part);
    *file = (struct output_file){ 0 };
}

/* Resolves symbolic links. So a link is kept, and the file that it points to is replaced.
 * Returns NULL if there is no memory. */
static char *target_of(const char *path)
{
    char *resolved = realpath(path, NULL);

    return resolved != NULL ? resolved : strdup(path);
}

static int open_part(struct output_file *file)
{
    file->target = target_of(file->path);
    if (file->target == NULL ||
        asprintf(&file->part, "%s.%d.part", file->target, (int)getpid()) < 0) {
        file->part = NULL;
        errno = ENOMEM;
        return -1;
    }
    /* Removes a file that a killed process with the same pid left. O_EXCL refuses a file that
     * appears after this removal. */
    unlink(file->part);
    return open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

bool output_file_is_page(const char *path)
{
    struct stat status;

    return strcmp(path, "-") == 0 || ends_with_any_case(path, ".html") ||
           ends_with_any_case(path, ".htm") ||
           (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

int output_file_open(struct output_file *file, const char *path)
{
    struct stat status;
    int descriptor;

    *file = (struct output_file){ .path = path };
    if (strcmp(path, "-") == 0)
        descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        descriptor = open(path, O_WRONLY | O_CLOEXEC);
    else
        descriptor = open_part(file);
    file->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file->stream == NULL) {
        const int system_error = errno;

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

int output_file_finish(struct output_file *file)
{
    int system_error = 0;

    /* The errno of an earlier failed write is lost. fflush() repeats the write, and sets errno
     * again. */
    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        return output_file_fail(file, errno != 0 ? errno : EIO);
    if (fclose(file->stream) != 0)
        system_error = errno;
    file->stream = NULL;
    if (system_error == 0 && file->part != NULL && rename(file->part, file->target) != 0)
        system_error = errno;
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
