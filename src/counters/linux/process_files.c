/*
 * Opens and reads the directories and files of processes and threads below /proc.
 *
 * A process may exit while its files are read, and another process may get its pid. Data of the two
 * must never be mixed. A caller that reads stat last compares the start time in it: if this is the
 * expected one, all earlier reads were of the expected process. A caller that must read stat first
 * opens the directory of the process (O_PATH), and opens the files through this descriptor. The
 * kernel ties the descriptor to the process, not to the pid: proc_pid_permission() returns ESRCH
 * after the exit. Opening the directory costs 1.1 us; reading stat a second time would cost 5.2 us.
 */
#define _GNU_SOURCE 1 /* for O_PATH */

#include "process.h"

#include "../error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct path_writer {
    char *at;
    char *end; /* last byte, reserved for the final NUL */
    bool fits;
};

static void write_text(struct path_writer *path, const char *text)
{
    size_t length = strlen(text);

    if (length > (size_t)(path->end - path->at)) {
        path->fits = false;
        return;
    }
    memcpy(path->at, text, length);
    path->at += length;
}

static void write_number(struct path_writer *path, int32_t number)
{
    char digits[12];
    char *first = digits + sizeof digits - 1;
    uint32_t rest = number < 0 ? 0 : (uint32_t)number;

    *first = '\0';
    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    write_text(path, first);
}

static void write_thread(struct path_writer *path, int32_t tid)
{
    if (tid != 0) {
        write_text(path, "task/");
        write_number(path, tid);
        write_text(path, "/");
    }
}

int camp_task_path(char *path, const struct camp_source *source, int32_t pid, int32_t tid,
                   const char *name, struct camp_error *error)
{
    struct path_writer writer = { path, path + PATH_SIZE - 1, true };

    write_text(&writer, camp_proc(source));
    write_text(&writer, "/");
    write_number(&writer, pid);
    write_text(&writer, "/");
    write_thread(&writer, tid);
    write_text(&writer, name != NULL ? name : "");
    if (!writer.fits)
        return camp_fail(error, CAMP_E_INVALID, 0, "a path of process %d is over %d bytes", pid,
                         PATH_SIZE - 1);
    *writer.at = '\0';
    return CAMP_OK;
}

int camp_folder_at(struct task_folder *folder, const struct camp_source *source, int32_t pid,
                   int32_t tid, struct camp_error *error)
{
    folder->descriptor = AT_FDCWD;
    return camp_task_path(folder->path, source, pid, tid, NULL, error);
}

int camp_folder_open(struct task_folder *folder, const struct camp_source *source, int32_t pid,
                     int32_t tid, struct camp_error *error)
{
    int r = camp_folder_at(folder, source, pid, tid, error);

    if (r < 0)
        return r;
    folder->descriptor = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder->descriptor < 0)
        return camp_fail_errno(error, errno, folder->path);
    return CAMP_OK;
}

void camp_folder_close(struct task_folder *folder)
{
    if (folder->descriptor >= 0)
        close(folder->descriptor);
    folder->descriptor = -1;
}

static int open_below(const struct task_folder *folder, int32_t tid, const char *name)
{
    char path[PATH_SIZE + 64];
    struct path_writer writer = { path, path + sizeof path - 1, true };

    if (folder->descriptor == AT_FDCWD)
        write_text(&writer, folder->path);
    write_thread(&writer, tid);
    write_text(&writer, name);
    *writer.at = '\0';
    return openat(folder->descriptor, path, O_RDONLY | O_CLOEXEC);
}

static ssize_t read_again(int descriptor, char *buffer, size_t capacity)
{
    ssize_t got;

    do
        got = read(descriptor, buffer, capacity);
    while (got < 0 && errno == EINTR);
    return got;
}

int camp_folder_read(const struct task_folder *folder, int32_t tid, const char *name, char *buffer,
                     size_t capacity, size_t *ret_length)
{
    int descriptor = open_below(folder, tid, name);
    int system_error = 0;
    ssize_t got;

    if (descriptor < 0)
        return errno;
    got = read_again(descriptor, buffer, capacity);
    if (got < 0)
        system_error = errno;
    else
        *ret_length = (size_t)got;
    close(descriptor);
    return system_error;
}

int camp_folder_read_end(const struct task_folder *folder, int32_t tid, const char *name,
                         char *buffer, size_t capacity, size_t *ret_length)
{
    int descriptor = open_below(folder, tid, name);
    int system_error = 0;
    size_t length = 0;
    ssize_t got;

    if (descriptor < 0)
        return errno;
    while ((got = read_again(descriptor, buffer + length, capacity - length)) > 0) {
        length += (size_t)got;
        if (length == capacity) {
            memmove(buffer, buffer + capacity / 2, capacity - capacity / 2);
            length = capacity - capacity / 2;
        }
    }
    if (got < 0)
        system_error = errno;
    close(descriptor);
    *ret_length = length;
    return system_error;
}

int camp_folder_fail(const struct task_folder *folder, int32_t tid, const char *name,
                     int system_error, struct camp_error *error)
{
    char what[PATH_SIZE + 64];
    struct path_writer writer = { what, what + sizeof what - 1, true };

    write_text(&writer, folder->path);
    write_thread(&writer, tid);
    write_text(&writer, name);
    *writer.at = '\0';
    if (system_error == EBADMSG)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s is not what the kernel writes; report it",
                         what);
    return camp_fail_errno(error, system_error, what);
}

/* struct linux_dirent64 of the kernel, which libc does not declare */
struct directory_entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

int camp_numbers_open(struct number_directory *directory, int base, const char *name)
{
    directory->at = 0;
    directory->length = 0;
    directory->descriptor = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory->descriptor < 0 ? errno : 0;
}

/* Accepts numbers from 1 to INT32_MAX without leading zeros. */
static bool number_of_name(const char *name, int32_t *ret)
{
    uint64_t value = 0;

    if (name[0] < '1' || name[0] > '9')
        return false;
    for (; *name >= '0' && *name <= '9'; name++) {
        value = value * 10 + (uint64_t)(*name - '0');
        if (value > INT32_MAX)
            return false;
    }
    *ret = (int32_t)value;
    return *name == '\0';
}

int camp_numbers_next(struct number_directory *directory, struct number_entry *ret)
{
    for (;;) {
        const struct directory_entry *entry;

        if (directory->at >= directory->length) {
            long got = syscall(SYS_getdents64, directory->descriptor, directory->entries,
                               sizeof directory->entries);

            if (got <= 0)
                return got < 0 ? -errno : 0;
            directory->at = 0;
            directory->length = (size_t)got;
        }
        entry = (const void *)(directory->entries + directory->at);
        directory->at += entry->size;
        if (number_of_name(entry->name, &ret->number)) {
            ret->inode = entry->inode;
            return 1;
        }
    }
}

void camp_numbers_close(struct number_directory *directory)
{
    if (directory->descriptor >= 0)
        close(directory->descriptor);
    directory->descriptor = -1;
}
