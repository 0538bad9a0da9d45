/* Errors of Windows, and texts in UTF-16. */
#include "shared.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_NAME 256 /* units of UTF-16, for the alias of a network and for a file name */

static int code_of(uint32_t system_error)
{
    switch (system_error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_DEV_NOT_EXIST:
    case ERROR_NOT_FOUND:
    case ERROR_NOT_READY:
    case ERROR_DEVICE_NOT_CONNECTED:
    case ERROR_PROCESS_ABORTED:
        return CAMP_E_GONE;
    case ERROR_ACCESS_DENIED:
    case ERROR_PRIVILEGE_NOT_HELD:
        return CAMP_E_PERM;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_TOO_MANY_OPEN_FILES:
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_COMMITMENT_LIMIT:
        return CAMP_E_NOMEM;
    case ERROR_NOT_SUPPORTED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_CALL_NOT_IMPLEMENTED:
        return CAMP_E_NOTSUP;
    default:
        return CAMP_E_IO;
    }
}

static const char *advice(int code)
{
    switch (code) {
    case CAMP_E_GONE:
        return "it does not exist, or no longer exists";
    case CAMP_E_PERM:
        return "run as an administrator";
    case CAMP_E_NOMEM:
        return "free some memory, or try again later";
    case CAMP_E_NOTSUP:
        return "this system does not have it";
    default:
        return "check that it can be read";
    }
}

/* The system's sentence ends with a full stop, and often with a line break. */
static void text_of(uint32_t system_error, char *ret, size_t capacity)
{
    WCHAR text[256];
    DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
                                      FORMAT_MESSAGE_MAX_WIDTH_MASK,
                                  NULL, system_error, 0, text, sizeof text / sizeof text[0], NULL);

    while (length > 0 && (text[length - 1] <= L' ' || text[length - 1] == L'.'))
        length--;
    camp_utf8_of(text, length, ret, capacity);
    if (ret[0] == '\0')
        snprintf(ret, capacity, "error %lu", (unsigned long)system_error);
}

int camp_fail_windows(struct camp_error *error, uint32_t system_error, const char *what)
{
    int code = code_of(system_error);
    char text[512];

    if (error == NULL)
        return code;
    text_of(system_error, text, sizeof text);
    return camp_fail(error, code, (int)system_error, "%s: %s; %s", what, text, advice(code));
}

int camp_fail_status(struct camp_error *error, NTSTATUS status, const char *what)
{
    return camp_fail_windows(error, RtlNtStatusToDosError(status), what);
}

int camp_this_machine_only(const struct camp_source *source, struct camp_error *error)
{
    if (source == NULL)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_NOTSUP, 0,
                     "Windows has no folders that could be read instead: pass no source");
}

void camp_utf8_of(const WCHAR *text, size_t length, char *ret, size_t capacity)
{
    char whole[3 * LONGEST_NAME]; /* a unit needs three bytes at most, and a pair of units four */
    size_t used;

    if (length > LONGEST_NAME)
        length = LONGEST_NAME;
    used =
        (size_t)WideCharToMultiByte(CP_UTF8, 0, text, (int)length, whole, sizeof whole, NULL, NULL);
    if (used >= capacity) {
        used = capacity - 1;
        while (used > 0 && ((unsigned char)whole[used] & 0xc0) == 0x80)
            used--;
    }
    memcpy(ret, whole, used);
    ret[used] = '\0';
}

bool camp_utf16_of(const char *text, WCHAR *ret, size_t capacity)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, ret, (int)capacity) > 0;
}
