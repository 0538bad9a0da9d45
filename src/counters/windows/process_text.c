/*
 * The executable of a process, as a path with a drive letter.
 *
 * A command line is one text on Windows, which each program divides in its own way, so it is no
 * list of arguments. A user is a security identifier, no number. How many processes share a page is
 * not reported. These are not supported.
 */
#include "shared.h"

#include <camp/system.h>

#include <string.h>

#define LONGEST_PATH 4096 /* units of UTF-16 */

static int hand_out_text(const WCHAR *path, DWORD length, char *buffer, size_t capacity,
                         size_t *ret_length, struct camp_error *error)
{
    char text[3 * LONGEST_PATH];

    *ret_length =
        (size_t)WideCharToMultiByte(CP_UTF8, 0, path, (int)length, text, sizeof text, NULL, NULL);
    if (capacity > 0)
        memcpy(buffer, text, *ret_length < capacity ? *ret_length : capacity);
    if (*ret_length <= capacity)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_SPACE, 0,
                     "the text has %lu bytes, with space for %lu: pass more",
                     (unsigned long)*ret_length, (unsigned long)capacity);
}

/* ERROR_GEN_FAILURE: a process of the kernel has no executable. */
static int read_path(HANDLE process, WCHAR *ret, DWORD *length, struct camp_error *error)
{
    if (QueryFullProcessImageNameW(process, 0, ret, length))
        return CAMP_OK;
    if (GetLastError() == ERROR_GEN_FAILURE)
        return camp_fail(error, CAMP_E_NOTSUP, ERROR_GEN_FAILURE,
                         "a process of the kernel has no executable");
    return camp_fail_windows(error, GetLastError(), "the executable of a process");
}

int camp_process_text(const struct camp_source *source, const struct camp_process *process,
                      int text, char *buffer, size_t capacity, size_t *ret_length,
                      struct camp_error *error)
{
    WCHAR path[LONGEST_PATH];
    DWORD length = LONGEST_PATH;
    struct camp_task unwanted;
    uint32_t failure;
    HANDLE opened;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (process == NULL || process->pid <= 0 || ret_length == NULL ||
        (buffer == NULL && capacity > 0) || text < CAMP_TEXT_COMMAND_LINE ||
        text > CAMP_TEXT_CGROUP)
        return camp_fail(error, CAMP_E_INVALID, 0, "pass a process, a text and a place for it");
    if (text != CAMP_TEXT_EXECUTABLE)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "Windows has no arguments and no cgroups");
    opened = camp_process_open(process->pid);
    failure = GetLastError();
    /* While it is open, the table has this process or none with its pid. */
    r = camp_process_read_opened(process, NULL, &unwanted, error);
    if (r == CAMP_OK && opened == NULL)
        r = camp_fail_windows(error, failure, "the executable of a process");
    if (r == CAMP_OK)
        r = read_path(opened, path, &length, error);
    if (opened != NULL)
        CloseHandle(opened);
    return r < 0 ? r : hand_out_text(path, length, buffer, capacity, ret_length, error);
}

int camp_process_user_id(const struct camp_source *source, const struct camp_process *process,
                         uint32_t *ret_user_id, struct camp_error *error)
{
    (void)source, (void)process, (void)ret_user_id;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "a user of Windows has no number");
}

int camp_process_proportional_bytes(const struct camp_source *source,
                                    const struct camp_process *process, uint64_t *ret_bytes,
                                    struct camp_error *error)
{
    (void)source, (void)process, (void)ret_bytes;
    return camp_fail(error, CAMP_E_NOTSUP, 0, "Windows does not say who shares a page");
}
