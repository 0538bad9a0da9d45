/* Short headings of state columns. */
#pragma once

#include <stddef.h>

#define FRAME_HEADING_SIZE 40

/* The number of characters, not bytes. */
size_t characters(const char *text);

/* "run queue" is shortened to "runq%"; a title of up to 7 characters is not shortened. */
void short_heading(const char *title, char ret[FRAME_HEADING_SIZE]);

/* "table lock" is shortened to "tab.lock%": for states named by rules. */
void dotted_heading(const char *title, char ret[FRAME_HEADING_SIZE]);
