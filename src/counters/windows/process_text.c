/*
 * The executable of a process, as a path with a drive letter, and its command line.
 *
 * A command line is one text on Windows, which each program divides in its own way, so it is
 * returned undivided. The kernel copies it from the memory of the process
 * (ProcessCommandLineInformation, since Windows 8.1). Wine 8 does not have it.
 *
 * A user is a security identifier, no number. How many processes share a page is not reported.
 * These are not supported.
 */
#include "shared.h"

#include <camp/system.h>

#include <string.h>

#define LONGEST_PATH 4096 /* units of UTF-16 */
/* A UNICODE_STRING has up to 65,534 bytes; the kernel puts a NUL after them. */
#define LINE_SIZE (sizeof(UNICODE_STRING) + 65536)

/* Where the caller wants a text. */
struct given_text {
    char *buffer;
    size_t capacity;
    size_t *length;
};

static int fail_space(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_NOMEM, ERROR_NOT_ENOUGH_MEMORY,
                     "no memory for the text of a process; free some memory, or try again later");
}

/* Copies a text as UTF-8, with `nuls` bytes of 0 after it. */
static int hand_out_text(const WCHAR *text, size_t length, size_t nuls, struct given_text *ret,
                         struct camp_error *error)
{
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, (int)length, NULL, 0, NULL, NULL);
    char *copy = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, (size_t)bytes + nuls + 1);

    if (copy == NULL)
        return fail_space(error);
    WideCharToMultiByte(CP_UTF8, 0, text, (int)length, copy, bytes, NULL, NULL);
    *ret->length = (size_t)bytes + nuls;
    if (ret->capacity > 0)
        memcpy(ret->buffer, copy, *ret->length < ret->capacity ? *ret->length : ret->capacity);
    HeapFree(GetProcessHeap(), 0, copy);
    if (*ret->length <= ret->capacity)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_SPACE, 0,
                     "the text has %lu bytes, with space for %lu: pass more",
                     (unsigned long)*ret->length, (unsigned long)ret->capacity);
}

/* ERROR_GEN_FAILURE: a process of the kernel has no executable. */
static int read_executable(HANDLE process, struct given_text *ret, struct camp_error *error)
{
    WCHAR path[LONGEST_PATH];
    DWORD length = LONGEST_PATH;

    if (QueryFullProcessImageNameW(process, 0, path, &length))
        return hand_out_text(path, length, 0, ret, error);
    if (GetLastError() == ERROR_GEN_FAILURE)
        return camp_fail(error, CAMP_E_NOTSUP, ERROR_GEN_FAILURE,
                         "a process of the kernel has no executable");
    return camp_fail_windows(error, GetLastError(), "the executable of a process");
}

static int read_command_line(HANDLE process, struct given_text *ret, struct camp_error *error)
{
    UNICODE_STRING *line = HeapAlloc(GetProcessHeap(), 0, LINE_SIZE);
    NTSTATUS status;
    ULONG needed;
    int r;

    if (line == NULL)
        return fail_space(error);
    status = NtQueryInformationProcess(process, (PROCESSINFOCLASS)OF_COMMAND_LINE, line, LINE_SIZE,
                                       &needed);
    if (status == NATIVE_INVALID_CLASS)
        r = camp_fail(error, CAMP_E_NOTSUP, 0,
                      "command lines are known since Windows 8.1, and not on Wine 8");
    else if (native_failed(status))
        r = camp_fail_status(error, status, "the command line of a process");
    else
        r = hand_out_text(line->Buffer, line->Length / sizeof(WCHAR), line->Length > 0 ? 1 : 0, ret,
                          error);
    HeapFree(GetProcessHeap(), 0, line);
    return r;
}

int camp_process_text(const struct camp_source *source, const struct camp_process *process,
                      int text, char *buffer, size_t capacity, size_t *ret_length,
                      struct camp_error *error)
{
    struct given_text given = { buffer, capacity, ret_length };
    struct camp_task unwanted;
    uint32_t failure;
    HANDLE opened;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, process) || camp_array_is_null(error, buffer, capacity, ret_length) ||
        camp_is_outside(error, process->pid, 1, INT32_MAX) ||
        camp_is_outside(error, text, CAMP_TEXT_COMMAND_LINE, CAMP_TEXT_CGROUP))
        return CAMP_E_INVALID;
    if (text == CAMP_TEXT_CGROUP)
        return camp_fail(error, CAMP_E_NOTSUP, 0, "Windows has no cgroups");
    opened = camp_process_open(process->pid);
    failure = GetLastError();
    /* While it is open, the table has this process or none with its pid. */
    r = camp_process_read_opened(process, NULL, &unwanted, error);
    if (r == CAMP_OK && opened == NULL)
        r = camp_fail_windows(error, failure, "the text of a process");
    if (r == CAMP_OK)
        r = text == CAMP_TEXT_EXECUTABLE ? read_executable(opened, &given, error)
                                         : read_command_line(opened, &given, error);
    if (opened != NULL)
        CloseHandle(opened);
    return r;
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
