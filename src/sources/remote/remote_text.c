#include "remote_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Reads the character at `text`. Returns its length, or 0 if the bytes are not UTF-8 (RFC 3629). */
static size_t read_character(const unsigned char *text, uint32_t *ret)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t length = text[0] < 0x80             ? 1
                          : (text[0] & 0xe0) == 0xc0 ? 2
                          : (text[0] & 0xf0) == 0xe0 ? 3
                          : (text[0] & 0xf8) == 0xf0 ? 4
                                                     : 0;

    *ret = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *ret = *ret << 6 | (text[i] & 0x3f);
    }
    return *ret >= smallest[length] && *ret <= 0x10ffff && (*ret & 0xfffff800) != 0xd800 ? length
                                                                                         : 0;
}

static bool is_harmless(uint32_t character)
{
    const bool is_control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    const bool changes_direction = character == 0x061c || character == 0x200e ||
                                   character == 0x200f ||
                                   (character >= 0x202a && character <= 0x202e) ||
                                   (character >= 0x2066 && character <= 0x2069);
    const bool breaks_line = character == 0x2028 || character == 0x2029;

    return !is_control && !changes_direction && !breaks_line;
}

void remote_text_line(const char *text, char *ret, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;

    while (*at != '\0' && *at != '\n') {
        uint32_t character;
        const size_t length = read_character(at, &character);
        const bool is_kept = length > 0 && is_harmless(character);

        if (used + (is_kept ? length : 1) >= size)
            break;
        if (is_kept)
            memcpy(ret + used, at, length);
        else
            ret[used] = '?';
        used += is_kept ? length : 1;
        at += length > 0 ? length : 1;
    }
    ret[used] = '\0';
}
