#include "load/load_file.h"

#include "counters/error.h"
#include "counters/units.h"
#include "program/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FOLDER "/var/tmp"

const char *load_folder(void)
{
    const char *named = getenv("TMPDIR");

    return named != NULL && named[0] != '\0' ? named : DEFAULT_FOLDER;
}

/* Creates a file without a name in load_folder(). The file is removed when it is closed. Returns a
 * descriptor, or -1 with errno. */
static int load_make_nameless(void)
{
    char path[PATH_MAX];
    int file = open(load_folder(), O_RDWR | O_CLOEXEC | O_TMPFILE, 0600);

    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return file;
    if (snprintf(path, sizeof path, "%s/camp-load-XXXXXX", load_folder()) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

static int fill(int file, uint64_t bytes)
{
    static const char zeros[65536];
    uint64_t at = 0;

    while (at < bytes && !stop_requested) {
        uint64_t left = bytes - at;
        ssize_t n =
            pwrite(file, zeros, left < sizeof zeros ? (size_t)left : sizeof zeros, (off_t)at);

        if (n == 0)
            errno = ENOSPC;
        if (n <= 0 && errno != EINTR)
            return errno;
        at += n > 0 ? (uint64_t)n : 0;
    }
    return 0;
}

int load_make_filled(uint64_t bytes)
{
    int file = load_make_nameless(), failed;

    if (file < 0)
        return -1;
    failed = fill(file, bytes);
    if (failed != 0) {
        close(file);
        errno = failed;
        return -1;
    }
    load_drop_from_memory(file);
    return file;
}

bool load_drop_from_memory(int file)
{
    if (fdatasync(file) != 0)
        return false;
    errno = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    return errno == 0;
}

int load_file_failed(const struct load_file *file, int system_error, struct camp_error *error)
{
    const char *name = file->path != NULL ? file->path : "the temporary file";

    if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG)
        return camp_fail(error, CAMP_E_IO, system_error,
                         "%s: the disk is full; give fewer --bytes, or a --file on another disk",
                         name);
    if (system_error == EINVAL && file->direct)
        return camp_fail(
            error, CAMP_E_NOTSUP, system_error,
            "%s: this file system has no direct I/O with this block size; try --block 4K", name);
    return camp_fail_errno(error, system_error, name);
}

/* Sets O_DIRECT on the open file, because open(O_CREAT | O_DIRECT) may fail and yet create a file.
 */
static int go_direct(const struct load_file *file, struct camp_error *error)
{
    int flags = fcntl((int)file->handle, F_GETFL);

    if (!file->direct || (flags >= 0 && fcntl((int)file->handle, F_SETFL, flags | O_DIRECT) == 0))
        return CAMP_OK;
    return load_file_failed(file, errno, error);
}

static int open_existing(struct load_file *ret, struct camp_error *error)
{
    struct stat facts;
    off_t end;

    ret->handle = open(ret->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (ret->handle < 0 || fstat((int)ret->handle, &facts) != 0)
        return load_file_failed(ret, errno, error);
    if (!S_ISREG(facts.st_mode) && !S_ISBLK(facts.st_mode))
        return camp_fail(error, CAMP_E_IO, 0, "%s is neither a regular file nor a disk", ret->path);
    end = lseek((int)ret->handle, 0, SEEK_END);
    ret->bytes = end > 0 ? (uint64_t)end : 0;
    return go_direct(ret, error);
}

int load_file_open(struct load_file *ret, const char *path, bool write, bool direct,
                   struct camp_error *error)
{
    *ret = (struct load_file){ .handle = -1, .path = path, .direct = direct };
    if (path == NULL) {
        ret->handle = load_make_nameless();
        ret->created = true;
        return ret->handle >= 0 ? go_direct(ret, error) : load_file_failed(ret, errno, error);
    }
    ret->handle = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ret->created = ret->handle >= 0;
    if (ret->created)
        unlink(path);
    if (ret->created || errno != EEXIST)
        return ret->created ? go_direct(ret, error) : load_file_failed(ret, errno, error);
    if (write)
        return camp_fail(error, CAMP_E_IO, EEXIST,
                         "%s exists, and --write never overwrites a file; give another name", path);
    return open_existing(ret, error);
}

void load_file_close(struct load_file *file)
{
    if (file->handle >= 0)
        close((int)file->handle);
    file->handle = -1;
}

int64_t load_file_move(const struct load_file *file, bool write, void *buffer, size_t bytes,
                       uint64_t offset, int *ret_error)
{
    const int descriptor = (int)file->handle;
    ssize_t n = write ? pwrite(descriptor, buffer, bytes, (off_t)offset)
                      : pread(descriptor, buffer, bytes, (off_t)offset);

    *ret_error = n < 0 ? errno : 0;
    return n < 0 && *ret_error == EINTR ? LOAD_FILE_INTERRUPTED : n;
}

int load_file_flush(const struct load_file *file)
{
    return fdatasync((int)file->handle) == 0 ? 0 : errno;
}

int load_file_evict(const struct load_file *file)
{
    return load_drop_from_memory((int)file->handle) ? 0 : errno;
}

bool load_storage_bytes(uint64_t *ret_bytes)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    *ret_bytes = (uint64_t)usage.ru_inblock * BYTES_PER_SECTOR;
    return true;
}
