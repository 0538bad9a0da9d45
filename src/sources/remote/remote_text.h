/* Texts that a server sends, such as the message of an error, as a part of one line. */
#pragma once

#include <stddef.h>

/* Copies the first line of `text`. Each unprintable character (ledger/characters.h) and each byte
 * that is not UTF-8 becomes '?'. The text is cut between two characters if ret[size] is too small.
 */
void remote_text_line(const char *text, char *ret, size_t size);
