#include "load_tools.h"

#include "program/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_FOLDER "/var/tmp"

const char *load_folder(void)
{
    const char *named = getenv("TMPDIR");

    return named != NULL && named[0] != '\0' ? named : DEFAULT_FOLDER;
}

int load_make_nameless(void)
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
