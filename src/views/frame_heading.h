/* Headings of few columns. */
#pragma once

#include <stddef.h>

#define FRAME_HEADING_SIZE 40

/* Characters, not bytes. */
size_t characters(const char *text);

/* "run queue" as a heading of few columns: "runq%". Up to 7 characters are as they are. */
void short_heading(const char *title, char ret[FRAME_HEADING_SIZE]);

/* "table lock" as "tab.lock%": the columns of rules. */
void dotted_heading(const char *title, char ret[FRAME_HEADING_SIZE]);
