#pragma once

#include <stddef.h>

#define FRAME_HEADING_SIZE 40

/* Returns the number of characters (not bytes) of a UTF-8 text. */
size_t characters(const char *text);

/* Shortens "run queue" to "runq%". A title of up to 7 characters is not shortened, and gets a
 * "%". */
void short_heading(const char *title, char ret[FRAME_HEADING_SIZE]);

/* Shortens the title of a state that a rule (rules/) named: "table lock" becomes "tab.lock%". */
void dotted_heading(const char *title, char ret[FRAME_HEADING_SIZE]);
