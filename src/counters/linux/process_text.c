/*
 * The texts of a process: its command line, executable and cgroup; its user, and its proportional
 * set size (man 5 proc; Documentation/filesystems/proc.rst).
 *
 * All files are opened through the directory of the process, after its start time was compared, so
 * that they are never of a later process with the same pid (see process_files.c).
 */
#include "process.h"

#include "../clock.h"
#include "../error.h"

#include <camp/system.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define TEXT_SIZE 8192 /* enough for two paths of the greatest length */

/* Opens the directory of the process, if it is the expected process. */
static int open_folder(struct task_folder *folder, const struct camp_source *source,
                       const struct camp_process *process, struct camp_error *error)
{
    struct stat_line line;
    int r = camp_folder_open(folder, source, process->pid, 0, error);

    if (r < 0)
        return r;
    r = camp_stat_read_folder(folder, 0, &line, error);
    if (r == CAMP_OK)
        r = camp_stat_check(&line, process->start, error);
    if (r < 0)
        camp_folder_close(folder);
    return r;
}

/* Fills *error for a file of a living process that cannot be read: a kernel thread has no memory
 * and no executable, and an old kernel may lack the file. */
static int fail(const struct task_folder *folder, const char *name, int system_error,
                struct camp_error *error)
{
    struct stat_line line;

    if ((system_error == ESRCH || system_error == ENOENT) &&
        camp_stat_read_folder(folder, 0, &line, NULL) == CAMP_OK && line.threads > 0)
        return camp_fail(error, CAMP_E_NOTSUP, system_error,
                         "%s%s: a kernel thread or this kernel does not have it", folder->path,
                         name);
    return camp_folder_fail(folder, 0, name, system_error, error);
}

/* Copies the text to the caller. */
static int hand_out(struct cursor text, char *buffer, size_t capacity, size_t *ret_length,
                    struct camp_error *error)
{
    const size_t length = cursor_left(&text);

    *ret_length = length;
    if (length > 0 && capacity > 0)
        memcpy(buffer, text.at, length < capacity ? length : capacity);
    if (length <= capacity)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_SPACE, 0,
                     "the text has %zu bytes, with space for %zu: pass more", length, capacity);
}

/* The command line may be longer than any buffer here: it goes directly to the caller's buffer, and
 * what does not fit is counted. */
static int read_command_line(const struct task_folder *folder, char *buffer, size_t capacity,
                             size_t *ret_length, struct camp_error *error)
{
    char rest[TEXT_SIZE] = "";
    const int descriptor = openat(folder->descriptor, "cmdline", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got;

    if (descriptor < 0)
        return fail(folder, "cmdline", errno, error);
    do {
        const bool fits = length < capacity;

        got =
            read(descriptor, fits ? buffer + length : rest, fits ? capacity - length : sizeof rest);
        length += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) {
        const int system_error = errno;

        close(descriptor);
        return fail(folder, "cmdline", system_error, error);
    }
    close(descriptor);
    *ret_length = length;
    return length <= capacity
               ? CAMP_OK
               : camp_fail(error, CAMP_E_SPACE, 0,
                           "the command line has %zu bytes, with space for %zu: pass more", length,
                           capacity);
}

static int read_executable(const struct task_folder *folder, char *buffer, size_t capacity,
                           size_t *ret_length, struct camp_error *error)
{
    char target[TEXT_SIZE];
    const ssize_t length = readlinkat(folder->descriptor, "exe", target, sizeof target);

    if (length < 0)
        return fail(folder, "exe", errno, error);
    return hand_out(cursor_of(target, (size_t)length), buffer, capacity, ret_length, error);
}

static int read_cgroup(const struct task_folder *folder, char *buffer, size_t capacity,
                       size_t *ret_length, struct camp_error *error)
{
    char text[TEXT_SIZE];
    struct cursor path;
    size_t length;
    int system_error = camp_folder_read_end(folder, 0, "cgroup", text, sizeof text, &length);

    if (system_error != 0)
        return fail(folder, "cgroup", system_error, error);
    if (!camp_cgroup_parse(cursor_of(text, length), &path))
        return camp_fail(error, CAMP_E_NOTSUP, 0, "%scgroup has no cgroup of version 2",
                         folder->path);
    return hand_out(path, buffer, capacity, ret_length, error);
}

int camp_process_text(const struct camp_source *source, const struct camp_process *process,
                      int text, char *buffer, size_t capacity, size_t *ret_length,
                      struct camp_error *error)
{
    static int (*const readers[])(const struct task_folder *, char *, size_t, size_t *,
                                  struct camp_error *) = {
        [CAMP_TEXT_COMMAND_LINE] = read_command_line,
        [CAMP_TEXT_EXECUTABLE] = read_executable,
        [CAMP_TEXT_CGROUP] = read_cgroup,
    };
    struct task_folder folder;
    size_t length = 0;
    int r;

    if (camp_is_null(error, process) || camp_array_is_null(error, buffer, capacity, ret_length) ||
        camp_is_outside(error, process->pid, 1, INT32_MAX) ||
        camp_is_outside(error, text, 0, (int)(sizeof readers / sizeof readers[0]) - 1))
        return CAMP_E_INVALID;
    r = open_folder(&folder, source, process, error);
    if (r < 0)
        return r;
    r = readers[text](&folder, buffer, capacity, &length, error);
    if (r == CAMP_OK || r == CAMP_E_SPACE)
        *ret_length = length;
    camp_folder_close(&folder);
    return r;
}

/* Reads a number from the file `name` of a process by `parse`. */
static int read_number(const struct camp_source *source, const struct camp_process *process,
                       const char *name, bool (*parse)(struct cursor, uint64_t *), uint64_t *ret,
                       struct camp_error *error)
{
    struct task_folder folder;
    char text[STATUS_SIZE];
    size_t length;
    int r, system_error;

    if (camp_is_outside(error, process->pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    r = open_folder(&folder, source, process, error);
    if (r < 0)
        return r;
    system_error = camp_folder_read(&folder, 0, name, text, sizeof text, &length);
    if (system_error != 0)
        r = fail(&folder, name, system_error, error);
    else if (!parse(cursor_of(text, length), ret))
        r = camp_folder_fail(&folder, 0, name, EBADMSG, error);
    camp_folder_close(&folder);
    return r;
}

int camp_process_user_id(const struct camp_source *source, const struct camp_process *process,
                         uint32_t *ret_user_id, struct camp_error *error)
{
    uint64_t user_id = 0;
    int r;

    if (camp_is_null(error, process, ret_user_id))
        return CAMP_E_INVALID;
    r = read_number(source, process, "status", camp_status_user, &user_id, error);
    if (r == CAMP_OK)
        *ret_user_id = (uint32_t)user_id;
    return r;
}

int camp_process_proportional_bytes(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_bytes,
                                    struct camp_error *error)
{
    uint64_t kib = 0;
    int r;

    if (camp_is_null(error, process, ret_bytes))
        return CAMP_E_INVALID;
    r = read_number(source, process, "smaps_rollup", camp_smaps_parse, &kib, error);
    if (r == CAMP_OK)
        *ret_bytes = kib * BYTES_PER_KIB;
    return r;
}
