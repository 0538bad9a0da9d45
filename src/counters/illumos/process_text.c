/*
 * Texts and the user of one process: the executable is the link /proc/PID/path/a.out, which only
 * its owner may read, and the user is in psinfo.
 *
 * psinfo has the arguments too, but joined by blanks and truncated after 79 bytes, so they are no
 * command line. This system has no cgroups and no proportional set size.
 */
#include "process.h"

#include "../error.h"

#include <camp/system.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 4096 /* more than PATH_MAX of this system */

/* Copies the path, and then checks that it is of the expected process. */
static int read_executable(const struct camp_source *source, const struct camp_process *process,
                           char path[LONGEST], size_t *ret_length, struct camp_error *error)
{
    char link[PATH_SIZE];
    psinfo_t psinfo;
    ssize_t length;
    int r = camp_proc_path(link, source, process->pid, 0, "path/a.out", error);

    if (r != CAMP_OK)
        return r;
    length = readlink(link, path, LONGEST);
    if (length < 0) {
        const int system_error = errno;

        r = camp_psinfo_read(source, process->pid, &psinfo, error);
        if (r == CAMP_OK && system_error == ENOENT)
            return camp_fail(error, CAMP_E_NOTSUP, 0, "process %d has no executable",
                             (int)process->pid);
        return r == CAMP_OK ? camp_fail_errno(error, system_error, link) : r;
    }
    r = camp_psinfo_read(source, process->pid, &psinfo, error);
    if (r == CAMP_OK)
        r = camp_start_check(psinfo.pr_start, process->start, error);
    *ret_length = (size_t)length;
    return r;
}

int camp_process_text(const struct camp_source *source, const struct camp_process *process,
                      int text, char *buffer, size_t capacity, size_t *ret_length,
                      struct camp_error *error)
{
    char path[LONGEST];
    size_t length = 0;
    int r;

    if (process == NULL || process->pid < 0 || ret_length == NULL ||
        (buffer == NULL && capacity > 0) || text < CAMP_TEXT_COMMAND_LINE ||
        text > CAMP_TEXT_CGROUP)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a process, a text and a place for it");
    if (text != CAMP_TEXT_EXECUTABLE)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "this system reports no such text of a process");
    r = read_executable(source, process, path, &length, error);
    if (r != CAMP_OK)
        return r;
    if (capacity > 0)
        memcpy(buffer, path, length < capacity ? length : capacity);
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

    if (process == NULL || process->pid < 0 || ret_user_id == NULL)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a process and a place for its user");
    r = camp_psinfo_read(source, process->pid, &psinfo, error);
    if (r == CAMP_OK)
        r = camp_start_check(psinfo.pr_start, process->start, error);
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
