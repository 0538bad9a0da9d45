/*
 * Foreign text may move the cursor, ask the terminal for a reply, hide or reorder what stands
 * around it, or split a line into two. Sources: ECMA-48 (control functions), the Unicode Standard,
 * annex 9 (bidirectional algorithm), and XML 1.0 section 2.2 (U+FFFE, U+FFFF).
 */
#include "characters.h"

#include <string.h>

size_t utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80                     ? 1
                    : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                    : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;

    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates and values above U+10FFFF are invalid. */
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

uint32_t utf8_code_point(const char *text, size_t length)
{
    static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t code = (unsigned char)text[0] & first_bits[length];

    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

static const struct {
    uint32_t first, last;
} unprintable[] = {
    { 0, 0x1f },          /* C0 */
    { 0x7f, 0x9f },       /* DEL and C1 */
    { 0x61c, 0x61c },     /* Arabic letter mark */
    { 0x200b, 0x200b },   /* zero width space */
    { 0x200e, 0x200f },   /* marks of direction */
    { 0x2028, 0x202e },   /* separators, embeddings and overrides of direction */
    { 0x2060, 0x206f },   /* word joiner, invisible operators, isolates of direction */
    { 0xfeff, 0xfeff },   /* byte order mark */
    { 0xfff9, 0xfffb },   /* annotations between lines */
    { 0xfffe, 0xffff },   /* noncharacters, which XML forbids */
    { 0xe0000, 0xe007f }, /* tags */
};

bool is_printable(const char *text, size_t length)
{
    uint32_t code;

    if (length == 0)
        return false;
    code = utf8_code_point(text, length);
    for (size_t i = 0; i < sizeof unprintable / sizeof unprintable[0]; i++) {
        if (code >= unprintable[i].first && code <= unprintable[i].last)
            return false;
    }
    return true;
}

void make_printable(char *text)
{
    char *write = text;

    while (*text != '\0') {
        const size_t length = utf8_length(text);

        if (is_printable(text, length)) {
            memmove(write, text, length);
            write += length;
        } else {
            *write++ = '?';
        }
        text += length > 0 ? length : 1;
    }
    *write = '\0';
}
