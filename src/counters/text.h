/*
 * Reading the numbers and words of /proc's texts.
 *
 * A cursor is a span of bytes, parsed from the left: what was parsed is no longer in it. Nothing
 * here reads past `end`, needs a final NUL, or depends on the locale: the bytes may be anything. A
 * function that returns bool leaves the cursor where it was when it returns false.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const char *at;
    const char *end;
};

static inline struct cursor cursor_of(const char *bytes, size_t length)
{
    return (struct cursor){ bytes, bytes + length };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline void text_skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

/* Finishes text_u64() for numbers of 20 digits and more. False: more than 64 bits. */
bool camp_text_long_u64(const char *first, const char *end, uint64_t *ret);

/* Parses blanks, then an unsigned decimal number. False: there is no digit, or more than 64 bits.
 */
static inline bool text_u64(struct cursor *cursor, uint64_t *ret)
{
    const char *end = cursor->end;
    const char *at = cursor->at;
    const char *first;
    uint64_t value = 0; /* its address is not taken, so it stays in a register */

    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    for (first = at; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';

        if (digit > 9)
            break;
        value = value * 10 + digit;
    }
    if (at == first)
        return false;
    /* 19 digits always fit, so the loop need not check for overflow. */
    if (at - first <= 19)
        *ret = value;
    else if (!camp_text_long_u64(first, at, ret))
        return false;
    cursor->at = at;
    return true;
}

/* Takes the line at the cursor, without its newline; the last may lack one. False: at the end. */
static inline bool text_line(struct cursor *cursor, struct cursor *ret_line)
{
    const char *newline;

    if (cursor->at >= cursor->end)
        return false;
    newline = memchr(cursor->at, '\n', cursor_left(cursor));
    ret_line->at = cursor->at;
    ret_line->end = newline != NULL ? newline : cursor->end;
    cursor->at = newline != NULL ? newline + 1 : cursor->end;
    return true;
}

/* Skips `prefix` if the cursor starts with it. */
static inline bool text_prefix(struct cursor *cursor, const char *prefix)
{
    size_t length = strlen(prefix);

    if (cursor_left(cursor) < length || memcmp(cursor->at, prefix, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Takes blanks, then all up to the next blank or the end. False: nothing is there. */
bool camp_text_word(struct cursor *cursor, struct cursor *ret_word);

/* Copies the span as a NUL-terminated string, cut to capacity - 1 bytes. */
void camp_text_copy(char *ret, size_t capacity, struct cursor span);
