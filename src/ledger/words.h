#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Copies text[length] to ret[size], with a NUL. A text that is too long is cut between two
 * characters of UTF-8. */
static inline void copy_text(char *ret, size_t size, const char *text, size_t length)
{
    size_t copied = length < size ? length : size - 1;

    while (copied < length && copied > 0 && ((unsigned char)text[copied] & 0xc0) == 0x80)
        copied--;
    memmove(ret, text, copied);
    ret[copied] = '\0';
}

/* Returns whether `text` ends in `ending` and is longer than `ending`. */
static inline bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);

    return length > tail && strcmp(text + length - tail, ending) == 0;
}

/* Does the same as ends_with(), but ignores upper and lower case. */
static inline bool ends_with_any_case(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);

    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

#ifndef PATH_SEPARATORS /* windows/posix.h has those of Windows */
#define PATH_SEPARATORS "/"
#endif

/* Returns the part of a path after its last separator. The basename() of musl changes the path. */
static inline const char *name_in_path(const char *path)
{
    for (const char *at = path; (at = strpbrk(at, PATH_SEPARATORS)) != NULL;)
        path = ++at;
    return path;
}

static inline const char *noun_of(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}
