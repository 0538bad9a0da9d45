/*
 * Texts and the user of one process: the executable is the link /proc/PID/path/a.out, which only
 * its owner may read; the command line is the file argv, which everybody may read; the user is in
 * psinfo.
 *
 * illumos has argv since 2020 (prreadargv() of uts/common/fs/proc/prargv.c): the arguments as they
 * are now in the memory of the process. Solaris does not have it. psinfo has the arguments too, but
 * joined by blanks and truncated after 79 bytes, so they are no command line. A process of the
 * kernel has only these. This system has no cgroups and no proportional set size.
 */
#include "process.h"

#include "../error.h"

#include <camp/system.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 4096 /* more than PATH_MAX of this system */

/* Fills *error for a text of a process that cannot be read, unless the process has exited. */
static int fail_text(const struct camp_source *source, int32_t pid, int system_error,
                     const char *path, struct camp_error *error)
{
    psinfo_t psinfo;
    int r = camp_psinfo_read(source, pid, &psinfo, error);

    if (r == CAMP_OK && system_error == ENOENT)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "process %d or this system has no %s", (int)pid,
                         path);
    return r == CAMP_OK ? camp_fail_errno(error, system_error, path) : r;
}

static int read_executable(const struct camp_source *source, int32_t pid, char *buffer,
                           size_t capacity, size_t *ret_length, struct camp_error *error)
{
    char path[PATH_SIZE], target[LONGEST];
    ssize_t length;
    int r = camp_proc_path(path, source, pid, 0, "path/a.out", error);

    if (r != CAMP_OK)
        return r;
    length = readlink(path, target, sizeof target);
    if (length < 0)
        return fail_text(source, pid, errno, path, error);
    *ret_length = (size_t)length;
    if (capacity > 0)
        memcpy(buffer, target, *ret_length < capacity ? *ret_length : capacity);
    return CAMP_OK;
}

/* Reads a file to its end, and copies what fits. Returns 0 or an errno. */
static int read_to_end(int descriptor, char *buffer, size_t capacity, size_t *ret_length)
{
    char rest[LONGEST];
    size_t length = 0;
    ssize_t got;

    do {
        if (length < capacity)
            got = read(descriptor, buffer + length, capacity - length);
        else
            got = read(descriptor, rest, sizeof rest);
        length += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    *ret_length = length;
    return got < 0 ? errno : 0;
}

static int read_command_line(const struct camp_source *source, int32_t pid, char *buffer,
                             size_t capacity, size_t *ret_length, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor, system_error, r = camp_proc_path(path, source, pid, 0, "argv", error);

    if (r != CAMP_OK)
        return r;
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fail_text(source, pid, errno, path, error);
    system_error = read_to_end(descriptor, buffer, capacity, ret_length);
    close(descriptor);
    return system_error == 0 ? CAMP_OK : fail_text(source, pid, system_error, path, error);
}

int camp_process_text(const struct camp_source *source, const struct camp_process *process,
                      int text, char *buffer, size_t capacity, size_t *ret_length,
                      struct camp_error *error)
{
    size_t length = 0;
    psinfo_t psinfo;
    int r;

    if (camp_is_null(error, process) || camp_array_is_null(error, buffer, capacity, ret_length) ||
        camp_is_outside(error, process->pid, 0, INT32_MAX) ||
        camp_is_outside(error, text, CAMP_TEXT_COMMAND_LINE, CAMP_TEXT_CGROUP))
        return CAMP_E_INVALID;
    if (text == CAMP_TEXT_CGROUP)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "this system has no cgroups");
    r = text == CAMP_TEXT_EXECUTABLE
            ? read_executable(source, process->pid, buffer, capacity, &length, error)
            : read_command_line(source, process->pid, buffer, capacity, &length, error);
    /* If the process is still the expected one after the text was read, the text is its own. */
    if (r == CAMP_OK)
        r = camp_psinfo_expect(source, process, &psinfo, error);
    if (r != CAMP_OK)
        return r;
    *ret_length = length;
    return length <= capacity ? CAMP_OK
                              : camp_fail(error, CAMP_E_SPACE, 0,
                                          "the text has %zu bytes: pass more space", length);
}

int camp_process_user_id(const struct camp_source *source, const struct camp_process *process,
                         uint32_t *ret_user_id, struct camp_error *error)
{
    psinfo_t psinfo;
    int r;

    if (camp_is_null(error, process, ret_user_id) ||
        camp_is_outside(error, process->pid, 0, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_psinfo_expect(source, process, &psinfo, error);
    if (r == CAMP_OK)
        *ret_user_id = (uint32_t)psinfo.pr_euid;
    return r;
}

int camp_process_proportional_bytes(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_bytes,
                                    struct camp_error *error)
{
    (void)source, (void)process, (void)ret_bytes;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "this system does not count how many processes share a page");
}
