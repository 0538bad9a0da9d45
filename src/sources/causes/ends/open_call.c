#include "open_call.h"

#include "microstates/calls.h"
#include "sources/machine/file_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads " 0x7ffd..." at *at, and moves *at behind it. Returns false if another text is there, or if
 * no blank follows. */
static bool read_argument(const char **at, uint64_t *ret)
{
    const char *text = *at;
    char *end;
    uint64_t argument;

    if (strncmp(text, " 0x", 3) != 0 || !isxdigit((unsigned char)text[3]))
        return false;
    errno = 0;
    argument = strtoull(text + 3, &end, 16);
    if (errno != 0 || *end != ' ')
        return false;
    *ret = argument;
    *at = end;
    return true;
}

bool open_call_parse(const char *text, int32_t *ret_call,
                     uint64_t ret_arguments[OPEN_CALL_ARGUMENTS])
{
    const char *at;
    char *end;
    long call;

    *ret_call = CALL_UNKNOWN;
    memset(ret_arguments, 0, OPEN_CALL_ARGUMENTS * sizeof *ret_arguments);
    errno = 0;
    call = strtol(text, &end, 10);
    if (end == text || errno != 0 || call < -1 || call > INT32_MAX || strncmp(end, " 0x", 3) != 0)
        return false;
    at = end;
    if (call >= 0 && !read_argument(&at, &ret_arguments[0]))
        return false;
    for (int i = 1; call >= 0 && i < OPEN_CALL_ARGUMENTS; i++) {
        if (!read_argument(&at, &ret_arguments[i]))
            break;
    }
    *ret_call = (int32_t)call;
    return true;
}

bool open_call_read_all(int32_t pid, int32_t tid, const char *folder, int32_t *ret_call,
                        uint64_t ret_arguments[OPEN_CALL_ARGUMENTS])
{
    char path[256], text[256];
    ssize_t length;

    snprintf(path, sizeof path, "%s/%" PRId32 "/task/%" PRId32 "/syscall", folder, pid, tid);
    length = file_text(path, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    return open_call_parse(text, ret_call, ret_arguments);
}

bool open_call_read(int32_t pid, int32_t tid, const char *folder, int32_t *ret_call,
                    uint64_t *ret_argument)
{
    uint64_t arguments[OPEN_CALL_ARGUMENTS];
    const bool done = open_call_read_all(pid, tid, folder, ret_call, arguments);

    *ret_argument = camp_call_argument(*ret_call) != CALL_OTHER ? arguments[0] : 0;
    return done;
}
