#include "program/output_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_is_closed(int system_error)
{
    return system_error == EPIPE;
}

int output_copy_stdout(void)
{
    return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
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

static int create(struct output_file *file)
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

int output_part_open(struct output_file *file)
{
    struct stat status;

    if (stat(file->path, &status) == 0 && !S_ISREG(status.st_mode))
        return output_place_check(file->path) ? open_other(file->path) : -1;
    return output_place_find(&file->place, file->path) ? create(file) : -1;
}

int output_part_replace(const struct output_file *file)
{
    const struct output_place *place = &file->place;

    return renameat(place->folder, file->part, place->folder, place->name) == 0 ? 0 : errno;
}

void output_part_remove(const struct output_file *file)
{
    unlinkat(file->place.folder, file->part, 0);
}
