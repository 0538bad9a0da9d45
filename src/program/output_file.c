#include "output_file.h"

#include "command.h"
#include "ledger/words.h"
#include "output_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Complains about a failed write. A pipe that the reader closed is not a failure. */
static int complain_of_file(const char *path, int system_error)
{
    if (strcmp(path, "-") == 0 || system_error == EPIPE)
        return output_failed(system_error);
    return complain(STATUS_FAILURE, "cannot write %s: %s", path, output_problem(system_error));
}

int output_folder_check(const char *path)
{
    /* with the last separator */
    const int length = (int)(name_in_path(path) - path);
    struct stat status;
    char *folder;
    int system_error = 0;

    if (length == 0)
        return STATUS_OK;
    /* stat() of Windows finds "folder/." and "C:.", but not "folder/". */
    if (asprintf(&folder, "%.*s.", length, path) < 0)
        return complain_of_file(path, ENOMEM);
    if (stat(folder, &status) != 0)
        system_error = errno;
    free(folder);
    if (system_error == ENOENT)
        return complain(STATUS_FAILURE, "cannot write %s: there is no folder %.*s", path,
                        length > 1 ? length - 1 : 1, path);
    return system_error == 0 ? STATUS_OK : complain_of_file(path, system_error);
}

bool output_file_is_page(const char *path)
{
    struct stat status;

    return strcmp(path, "-") == 0 || ends_with_any_case(path, ".html") ||
           ends_with_any_case(path, ".htm") ||
           (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

static void release(struct output_file *file)
{
    output_place_release(&file->place);
    free(file->part);
    *file = (struct output_file){ .place.folder = -1 };
}

int output_file_open(struct output_file *file, const char *path)
{
    int descriptor, system_error;

    *file = (struct output_file){ .path = path, .place.folder = -1 };
    descriptor = strcmp(path, "-") == 0 ? output_copy_stdout() : output_part_open(file);
    file->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file->stream != NULL)
        return STATUS_OK;
    system_error = errno;
    if (descriptor >= 0) {
        close(descriptor);
        if (file->part != NULL)
            output_part_remove(file);
    }
    if (system_error != ENOENT || output_folder_check(path) == STATUS_OK)
        complain_of_file(path, system_error);
    release(file);
    return STATUS_FAILURE;
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
    if (system_error == 0 && file->part != NULL)
        system_error = output_part_replace(file);
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
        output_part_remove(file);
    release(file);
}
