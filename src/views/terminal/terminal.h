/* What the terminal can show, beside its colours and its size (view.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns whether the stream is a terminal that belongs to another job of the shell now. If the
 * terminal is not the controlling terminal of this session, there are no such jobs. */
bool terminal_is_of_other_job(FILE *stream);

bool terminal_has_utf8(void);

/* Returns the width of a character of UTF-8 with `length` bytes, at least 2. Returns 0 or -1 if the
 * character is unprintable or unknown in the locale. */
int terminal_columns(const char *character, size_t length);
