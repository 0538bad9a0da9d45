/* Which characters of a foreign text may be printed. A name, a label, a heading or a server's
 * message may be any bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length in bytes (1 to 4) of the UTF-8 character at `text`, or 0 if the bytes are
 * invalid. Reads no byte after a NUL. */
size_t utf8_length(const char *text);

/* Returns the code point of the valid UTF-8 character of `length` bytes at `text`. */
uint32_t utf8_code_point(const char *text, size_t length);

/* Returns whether a character is valid, and changes nothing but its own place when it is shown.
 * `length` is that of utf8_length(). Control characters (C0, DEL, C1), line and paragraph
 * separators, controls of the direction of writing, invisible characters, tags and noncharacters
 * are unprintable. U+200C and U+200D, which join letters, are printable. */
bool is_printable(const char *text, size_t length);

/* Replaces each unprintable character and each invalid byte by '?'. The text does not grow. */
void make_printable(char *text);
