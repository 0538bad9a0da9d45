/* Texts that a server sends, such as the message of an error, as a part of one line. */
#pragma once

#include <stddef.h>

/* Copies the first line of `text`. What could control a terminal becomes '?': control characters
 * (C0, DEL, C1), characters that change the direction of text, and bytes that are not UTF-8. The
 * text is cut between two characters if ret[size] is too small. */
void remote_text_line(const char *text, char *ret, size_t size);
