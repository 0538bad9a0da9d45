#include "frame_heading.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HEADING_MOST 7

size_t characters(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Writes four letters of the first word, and the first letter of each further word. */
static void shorten(const char *title, char *ret)
{
    size_t length = 0, letters = 0;
    bool first = true;

    for (const char *at = title; *at != '\0' && length < HEADING_MOST; at++) {
        if (*at == ' ' || *at == '_') {
            first = false;
            letters = 0;
        } else if (letters++ < (first ? 4 : 1)) {
            ret[length++] = *at;
        }
    }
    ret[length] = '\0';
}

void short_heading(const char *title, char ret[FRAME_HEADING_SIZE])
{
    char text[FRAME_HEADING_SIZE];

    if (characters(title) <= HEADING_MOST)
        snprintf(text, sizeof text, "%.*s", FRAME_HEADING_SIZE - 2, title);
    else
        shorten(title, text);
    snprintf(ret, FRAME_HEADING_SIZE, "%.*s%%", FRAME_HEADING_SIZE - 2, text);
}

void dotted_heading(const char *title, char ret[FRAME_HEADING_SIZE])
{
    const char *last = strrchr(title, ' ');
    const size_t first = strcspn(title, " ");

    if (last == NULL || characters(title) <= HEADING_MOST)
        short_heading(title, ret);
    else
        snprintf(ret, FRAME_HEADING_SIZE, "%.*s.%.4s%%", first < 3 ? (int)first : 3, title,
                 last + 1);
}
