#include "mapped_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PATH_SIZE (4096 + 64)
/* File systems that report another device in a mapping than of a file (statfs(2)). */
#define MAGIC_BTRFS 0x9123683e
#define MAGIC_OVERLAY 0x794c7630

static bool has_other_devices(int file)
{
    struct statfs status;

    return fstatfs(file, &status) == 0 &&
           ((uint32_t)status.f_type == MAGIC_BTRFS || (uint32_t)status.f_type == MAGIC_OVERLAY);
}

static bool is_mapped(int file, const struct stat *status, const struct mapping *mapping)
{
    return (uint64_t)status->st_ino == mapping->inode &&
           (status->st_dev == makedev(mapping->device_major, mapping->device_minor) ||
            has_other_devices(file));
}

/* Opens a regular file, and nothing that reacts when it is opened, such as a device. `mapping` may
 * be NULL: any file. */
static int open_regular(const char *path, const struct mapping *mapping)
{
    const int place = open(path, O_PATH | O_CLOEXEC);
    struct stat status;
    char link[64];
    int file = -1;

    if (place < 0)
        return -1;
    if (fstat(place, &status) == 0 && S_ISREG(status.st_mode) &&
        (mapping == NULL || is_mapped(place, &status, mapping))) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", place);
        file = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    close(place);
    return file;
}

int mapped_file_open(const char *proc, int32_t pid, const struct mapping *mapping)
{
    char path[PATH_SIZE];
    int file;

    if (mapping->path[0] != '/' || mapping->inode == 0)
        return -1;
    if ((size_t)snprintf(path, sizeof path, "%s/%" PRId32 "/root%s", proc, pid, mapping->path) >=
        sizeof path)
        return -1;
    file = open_regular(path, mapping);
    if (file >= 0)
        return file;
    snprintf(path, sizeof path, "%s/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64, proc, pid,
             mapping->start, mapping->end);
    file = open_regular(path, mapping);
    return file >= 0 ? file : open_regular(mapping->path, mapping);
}

int mapped_file_open_debug(const char *folder, const uint8_t *build_id, size_t length)
{
    char path[PATH_SIZE];
    size_t at;

    if (length < 2)
        return -1;
    at = (size_t)snprintf(path, sizeof path, "%s/%02x/", folder, build_id[0]);
    for (size_t i = 1; i < length && at + 8 < sizeof path; i++)
        at += (size_t)snprintf(path + at, sizeof path - at, "%02x", build_id[i]);
    if (at + 8 >= sizeof path)
        return -1;
    snprintf(path + at, sizeof path - at, ".debug");
    return open_regular(path, NULL);
}
