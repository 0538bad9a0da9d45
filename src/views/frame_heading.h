/* Short headings of state columns. */
#pragma once

#include <stddef.h>

#define FRAME_HEADING_SIZE 40

/* Returns the number of characters, not bytes. */
size_t characters(const char *text);

/* Shortens "run queue" to "runq%"; a title of up to 7 characters is not shortened. */
void short_heading(const char *title, char ret[FRAME_HEADING_SIZE]);

/* Shortens "table lock" to "tab.lock%", for states named by rules. */
void dotted_heading(const char *title, char ret[FRAME_HEADING_SIZE]);
