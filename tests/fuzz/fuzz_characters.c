/* Parser: src/ledger/characters.c */
/* Parser: src/sources/remote/remote_text.c */
/* Prints any bytes as a foreign name, and as a message of a server. What is left must be valid
 * UTF-8 without control characters, and one line. */
#include "ledger/characters.h"
#include "sources/remote/remote_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Encodes a code point. Returns the length in bytes. */
static size_t encode(uint32_t code, unsigned char ret[4])
{
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        ret[i] = (unsigned char)(0x80 | (code & 0x3f));
    ret[0] = (unsigned char)(first[length] | code);
    return length;
}

/* The shortest form of its code point is the only valid form of a character. */
static void check_character(const char *text, size_t length)
{
    const uint32_t code = utf8_code_point(text, length);
    unsigned char again[4];

    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || encode(code, again) != length ||
        memcmp(again, text, length) != 0)
        abort();
}

static void check_printable(const char *text)
{
    while (*text != '\0') {
        const size_t length = utf8_length(text);

        if (length == 0 || (unsigned char)*text < ' ' || *text == 0x7f ||
            (*text == '\xc2' && (unsigned char)text[1] < 0xa0))
            abort();
        text += length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    char *text = malloc(size + 1), line[40];

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (const char *at = text; *at != '\0';) {
        const size_t length = utf8_length(at);

        if (length > 0)
            check_character(at, length);
        at += length > 0 ? length : 1;
    }
    remote_text_line(text, line, 1 + size % sizeof line);
    check_printable(line);
    make_printable(text);
    if (strlen(text) > size)
        abort();
    check_printable(text);
    free(text);
    return 0;
}
