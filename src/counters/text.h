/*
 * Parsers of numbers and words in the texts of /proc.
 *
 * A cursor is the part of a text that was not parsed yet. The text may have any bytes, and needs no
 * final NUL. A function that returns false leaves the cursor unchanged.
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

/* Parses a number of 20 or more digits, for text_u64(). Returns false if the number needs more than
 * 64 bits. */
bool camp_text_long_u64(const char *first, const char *end, uint64_t *ret);

/* Skips blanks and parses an unsigned decimal number. Returns false if there is no digit or the
 * number needs more than 64 bits. */
static inline bool text_u64(struct cursor *cursor, uint64_t *ret)
{
    const char *end = cursor->end;
    const char *at = cursor->at;
    const char *first;
    uint64_t value = 0; /* stays in a register, because no function gets its address */

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
    /* Numbers of 19 digits always fit, so the loop need not check for overflow. */
    if (at - first <= 19)
        *ret = value;
    else if (!camp_text_long_u64(first, at, ret))
        return false;
    cursor->at = at;
    return true;
}

/* Takes the next line, without its newline. The last line may lack a newline. Returns false at the
 * end of the text. */
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

static inline bool text_prefix(struct cursor *cursor, const char *prefix)
{
    size_t length = strlen(prefix);

    if (cursor_left(cursor) < length || memcmp(cursor->at, prefix, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Skips blanks and takes the word after them. Returns false if there is no word. */
bool camp_text_word(struct cursor *cursor, struct cursor *ret_word);

/* Copies `span` as a string, truncated to capacity - 1 bytes. */
void camp_text_copy(char *ret, size_t capacity, struct cursor span);

/* True if the last component of a path is `name`. */
bool camp_path_is(struct cursor path, const char *name);

/* The arguments of a process, each with a NUL after it. camp_invoked_as() is true if argv[0] is a
 * path to a file called `name`. The '-' with which the argv[0] of a login shell begins is ignored.
 * camp_interprets() is true if argv[1] or argv[2] is such a path: the kernel puts the path of a
 * script there, after the interpreter and its option. */
bool camp_invoked_as(struct cursor arguments, const char *name);
bool camp_interprets(struct cursor arguments, const char *name);

/* True if the kernel would give this name to a process that runs the file `name`. It keeps the
 * first 15 bytes. */
bool camp_process_name_is(const char *process_name, const char *name);
