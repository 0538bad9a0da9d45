#include "host_text.h"

#include <string.h>

/* Finds the line that starts with `key` and a blank. Sets *ret and *ret_end to the text after the
 * blank. */
static bool find_line(const char *text, size_t length, const char *key, const char **ret,
                      const char **ret_end)
{
    const size_t key_length = strlen(key);
    const char *at = text, *end = text + length;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline != NULL ? newline : end;

        if ((size_t)(line_end - at) > key_length && memcmp(at, key, key_length) == 0 &&
            at[key_length] == ' ') {
            *ret = at + key_length + 1;
            *ret_end = line_end;
            return true;
        }
        at = line_end + 1;
    }
    return false;
}

static bool read_number(const char *at, const char *end, uint64_t *ret)
{
    uint64_t number = 0;

    if (at == end || *at < '0' || *at > '9')
        return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');

        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = 10 * number + digit;
    }
    *ret = number;
    return true;
}

bool host_text_number(const char *text, size_t length, const char *key, uint64_t *ret)
{
    const char *at, *end;

    return find_line(text, length, key, &at, &end) && read_number(at, end, ret);
}

bool host_text_pressure_us(const char *text, size_t length, const char *share, uint64_t *ret)
{
    static const char key[] = "total=";
    const char *at, *end, *found;

    if (!find_line(text, length, share, &at, &end))
        return false;
    found = memmem(at, (size_t)(end - at), key, sizeof key - 1);
    return found != NULL && read_number(found + sizeof key - 1, end, ret);
}
