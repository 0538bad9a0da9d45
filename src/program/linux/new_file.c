#include "program/new_file.h"

#include "ledger/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
        folder != NULL ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, RIGHTS) : -1;

    free(folder);
    return descriptor;
}

#define TRIES 8 /* names that nobody guesses: the first one is free */

/* Opens a file with a temporary name beside the path. Returns -1 with errno. */
static int open_part(struct new_file *file)
{
    int descriptor = -1;

    errno = EEXIST;
    for (int i = 0; i < TRIES && descriptor < 0 && errno == EEXIST; i++) {
        uint64_t number;

        free(file->part);
        file->part = NULL;
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
            return -1;
        if (asprintf(&file->part, "%s.%016" PRIx64 ".part", file->path, number) < 0) {
            file->part = NULL;
            errno = ENOMEM;
            return -1;
        }
        descriptor = open(file->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, RIGHTS);
    }
    if (descriptor < 0) { /* the file of this name is not ours */
        const int system_error = errno;

        free(file->part);
        file->part = NULL;
        errno = system_error;
    }
    return descriptor;
}

static bool exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

/* Takes the descriptor, or the errno of a failed open(2) if it is -1. */
static int open_stream(struct new_file *file, int descriptor)
{
    int system_error;

    file->stream = descriptor >= 0 ? fdopen(descriptor, "w+b") : NULL;
    if (file->stream != NULL)
        return 0;
    system_error = errno;
    if (descriptor >= 0)
        close(descriptor);
    new_file_discard(file);
    return system_error;
}

int new_file_open(struct new_file *ret, const char *path)
{
    int descriptor;

    *ret = (struct new_file){ 0 };
    if (exists(path))
        return EEXIST;
    ret->path = strdup(path);
    if (ret->path == NULL)
        return ENOMEM;
    descriptor = open_nameless(path);
    /* A kernel before 3.11 takes O_TMPFILE for a folder (EISDIR); file systems without it report
     * EOPNOTSUPP. */
    if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        descriptor = open_part(ret);
    return open_stream(ret, descriptor);
}

int new_file_open_part(struct new_file *ret, const char *path)
{
    *ret = (struct new_file){ 0 };
    if (exists(path))
        return EEXIST;
    ret->path = strdup(path);
    return ret->path != NULL ? open_stream(ret, open_part(ret)) : ENOMEM;
}

/* Copies the file without a name to one with a temporary name. */
static int copy_to_part(struct new_file *file)
{
    char buffer[65536];
    off_t at = 0;
    ssize_t size;
    const int part = open_part(file);
    int system_error = 0;

    if (file->part == NULL)
        return errno != 0 ? errno : EIO;
    errno = 0; /* write(2) sets it only if it writes nothing */
    while (system_error == 0 &&
           (size = pread(fileno(file->stream), buffer, sizeof buffer, at)) != 0) {
        if (size < 0 || write(part, buffer, (size_t)size) != size)
            system_error = errno != 0 ? errno : EIO;
        at += size;
    }
    if (system_error == 0 && fsync(part) != 0)
        system_error = errno;
    close(part);
    return system_error;
}

/* link(2) and RENAME_NOREPLACE never replace a file. Some file systems (FAT) have only the latter.
 */
static int name_part(const struct new_file *file)
{
    if (link(file->part, file->path) == 0)
        return 0; /* new_file_discard() removes the other name */
    if (errno == EEXIST)
        return EEXIST;
    /* musl has no function for it. */
    return syscall(SYS_renameat2, AT_FDCWD, file->part, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0
               ? 0
               : errno;
}

/* Gives the file its name. */
static int give_name(struct new_file *file)
{
    char open_file[64];
    int system_error;

    if (file->part != NULL)
        return name_part(file);
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fileno(file->stream));
    if (linkat(AT_FDCWD, open_file, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != ENOENT) /* without /proc, and in some overlays, there is no such file */
        return errno;
    system_error = copy_to_part(file);
    if (system_error == 0 && file->part != NULL)
        return name_part(file);
    return system_error != 0 ? system_error : EIO;
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
