#include "program/new_file.h"

#include "ledger/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RIGHTS 0600

/* Returns a copy of the folder of a path, or NULL if there is no memory. */
static char *folder_of(const char *path)
{
    const size_t length = (size_t)(name_in_path(path) - path);

    return length > 0 ? strndup(path, length) : strdup(".");
}

static int open_nameless(const char *path)
{
    char *folder = folder_of(path);
    const int descriptor =
        folder != NULL ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, RIGHTS) : -1;

    free(folder);
    return descriptor;
}

/* A kernel before 3.11 takes O_TMPFILE for a folder (EISDIR); file systems without it report
 * EOPNOTSUPP. */
static int open_part(struct new_file *file)
{
    if (errno != EOPNOTSUPP && errno != EISDIR)
        return -1;
    if (asprintf(&file->part, "%s.%d.part", file->path, (int)getpid()) < 0) {
        file->part = NULL;
        errno = ENOMEM;
        return -1;
    }
    unlink(file->part); /* of a killed program with the same pid */
    return open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, RIGHTS);
}

static bool exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

int new_file_open(struct new_file *ret, const char *path)
{
    int descriptor, system_error;

    *ret = (struct new_file){ 0 };
    if (exists(path))
        return EEXIST;
    ret->path = strdup(path);
    if (ret->path == NULL)
        return ENOMEM;
    descriptor = open_nameless(path);
    if (descriptor < 0)
        descriptor = open_part(ret);
    ret->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (ret->stream != NULL)
        return 0;
    system_error = errno;
    if (descriptor >= 0)
        close(descriptor);
    new_file_discard(ret);
    return system_error;
}

/* Gives the file its name. link(2) never replaces a file; where it does not exist (FAT), a file
 * that appears at this moment is replaced. */
static int give_name(const struct new_file *file)
{
    char open_file[64];

    if (file->part == NULL) {
        snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fileno(file->stream));
        return linkat(AT_FDCWD, open_file, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0 ? 0
                                                                                         : errno;
    }
    if (link(file->part, file->path) == 0)
        return 0; /* new_file_discard() removes the other name */
    if (errno == EEXIST || exists(file->path))
        return EEXIST;
    return rename(file->part, file->path) == 0 ? 0 : errno;
}

/* So that the name survives a power failure, too. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    const int descriptor = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}

int new_file_finish(struct new_file *file)
{
    int system_error = 0;

    errno = 0; /* fflush() repeats an earlier failed write, and sets errno again */
    if (fflush(file->stream) != 0 || ferror(file->stream))
        system_error = errno != 0 ? errno : EIO;
    if (system_error == 0 && fsync(fileno(file->stream)) != 0)
        system_error = errno;
    if (system_error == 0)
        system_error = give_name(file);
    if (system_error == 0)
        sync_folder(file->path);
    new_file_discard(file);
    return system_error;
}

void new_file_discard(struct new_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->part != NULL)
        unlink(file->part);
    free(file->path);
    free(file->part);
    *file = (struct new_file){ 0 };
}
