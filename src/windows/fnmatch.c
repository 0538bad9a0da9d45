#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether the set at `*pattern`, after its '[', has the character, and moves *pattern
 * behind the set. A set without an end matches nothing, and *pattern becomes NULL. */
static bool is_in_set(const char **pattern, char character)
{
    const char *at = *pattern;
    const bool excludes = *at == '!';
    bool found = false;

    at += excludes;
    for (const char *first = at; *at != ']' || at == first; at++) {
        char low = *at, high = low;

        if (at[0] != '\0' && at[1] == '-' && at[2] != ']' && at[2] != '\0') {
            high = at[2];
            at += 2;
        }
        if (low == '\0') {
            *pattern = NULL;
            return false;
        }
        found |= low <= character && character <= high;
    }
    *pattern = at + 1;
    return found != excludes;
}

/* Returns whether the first part of the pattern, which is not a '*', matches the character, and
 * moves *pattern behind it. */
static bool matches_one(const char **pattern, char character)
{
    switch (**pattern) {
    case '?':
        ++*pattern;
        return true;
    case '[': {
        const char *behind = *pattern + 1;
        const bool is_matched = is_in_set(&behind, character);

        if (behind != NULL) {
            *pattern = behind;
            return is_matched;
        }
        break; /* a lone '[' stands for itself */
    }
    case '\\':
        *pattern += (*pattern)[1] != '\0';
        break;
    default:
        break;
    }
    return *(*pattern)++ == character;
}

/* After a mismatch, the last '*' takes one more character. Earlier ones need not be tried again. */
int fnmatch(const char *pattern, const char *text, int flags)
{
    const char *star = NULL, *retry = NULL;

    (void)flags;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern != '\0' && matches_one(&pattern, *text)) {
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++retry;
        } else {
            return FNM_NOMATCH;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0' ? 0 : FNM_NOMATCH;
}
