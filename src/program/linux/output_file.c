#include "program/output_file.h"

#include "ledger/words.h"
#include "program/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_is_closed(int system_error)
{
    return system_error == EPIPE;
}

/* Complains about a failed write. A pipe that the reader closed is not a failure. */
static int complain_of_file(const char *path, int system_error)
{
    if (strcmp(path, "-") == 0 || system_error == EPIPE)
        return output_failed(system_error);
    return complain(STATUS_FAILURE, "cannot write %s: %s", path, output_problem(system_error));
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
    output_place_release(&file->place);
    free(file->part);
    *file = (struct output_file){ .place.folder = -1 };
}

/* Gives the new file the owner, the group and the permissions of the file that it replaces. A user
 * who may not give the file to that group must not give its permissions to another group. A
 * confined command (sandbox.h) may not change the permissions of a file that replaces one of its
 * own: they are right already, or fewer because of an ACL of the folder. */
static int keep_rights(int descriptor, const struct stat *before)
{
    mode_t mode = before->st_mode & 0777;
    struct stat now;

    if (fstat(descriptor, &now) != 0)
        return -1;
    /* Only root may give the file to another user. */
    if (now.st_uid != before->st_uid && fchown(descriptor, before->st_uid, (gid_t)-1) != 0 &&
        errno != EPERM)
        return -1;
    if (now.st_gid != before->st_gid && fchown(descriptor, (uid_t)-1, before->st_gid) != 0)
        mode &= (mode_t)~S_IRWXG;
    if ((now.st_mode & 0777) == mode || fchmod(descriptor, mode) == 0)
        return 0;
    return errno == EPERM && (now.st_mode & 0777 & ~mode) == 0 ? 0 : -1;
}

/* Creates the unfinished file. The one that it replaces, if any, was of `before`. If both have the
 * same owner and group from the start, it gets the permissions at once, whatever the umask is. */
static int create_part(const struct output_file *file, const struct stat *before)
{
    struct stat folder;
    const bool is_own = before != NULL && before->st_uid == geteuid() &&
                        before->st_gid == getegid() && fstat(file->place.folder, &folder) == 0 &&
                        (folder.st_mode & S_ISGID) == 0;
    const mode_t mask = is_own ? umask(0) : 0;
    const int descriptor =
        openat(file->place.folder, file->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               is_own           ? before->st_mode & 0777
               : before != NULL ? 0600
                                : 0666);

    if (is_own)
        umask(mask);
    return descriptor;
}

static int open_part(struct output_file *file)
{
    const struct output_place *place = &file->place;
    struct stat before;
    const bool replaces = fstatat(place->folder, place->name, &before, AT_SYMLINK_NOFOLLOW) == 0;
    int descriptor;

    if (asprintf(&file->part, "%s.%d.part", place->name, (int)getpid()) < 0) {
        file->part = NULL;
        errno = ENOMEM;
        return -1;
    }
    /* Removes a file that a killed process with the same pid left. O_EXCL refuses a file that
     * appears after this removal. */
    unlinkat(place->folder, file->part, 0);
    descriptor = create_part(file, replaces ? &before : NULL);
    if (descriptor >= 0 && replaces && keep_rights(descriptor, &before) != 0) {
        const int system_error = errno;

        unlinkat(place->folder, file->part, 0);
        close(descriptor);
        errno = system_error;
        return -1;
    }
    return descriptor;
}

/* Opens a path that is not a regular file, such as a pipe. The path may have become a regular file
 * since it was checked; such a file is not overwritten. */
static int open_other(const char *path)
{
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    struct stat status;

    if (descriptor < 0 || (fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode)))
        return descriptor;
    close(descriptor);
    errno = EEXIST;
    return -1;
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
    int descriptor = -1;

    *file = (struct output_file){ .path = path, .place.folder = -1 };
    if (strcmp(path, "-") == 0)
        descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        descriptor = output_place_check(path) ? open_other(path) : -1;
    else if (output_place_find(&file->place, path))
        descriptor = open_part(file);
    file->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file->stream == NULL) {
        const int system_error = errno;

        if (descriptor >= 0) {
            close(descriptor);
            if (file->part != NULL)
                unlinkat(file->place.folder, file->part, 0);
        }
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
    if (system_error == 0 && file->part != NULL &&
        renameat(file->place.folder, file->part, file->place.folder, file->place.name) != 0)
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
        unlinkat(file->place.folder, file->part, 0);
    release(file);
}
