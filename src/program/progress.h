/* Shows the progress of a long operation as a bar or a line of text, if stderr is a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All members are zero before the first use. */
struct progress {
    uint64_t begin_ns, drawn_ns;
    size_t width; /* the number of columns in use; 0 if nothing is shown */
    bool is_off;  /* nothing is shown, because the screen shows something else */
};

/* Draws a bar, once the operation has taken half a second. `context` is a struct progress *, so
 * that the function can be the member `progress` of struct from. */
void progress_show(void *context, uint64_t done, uint64_t total);

/* Replaces the shown text, and cuts the new text to the width of the terminal. Shows nothing if
 * a shell runs the process in the background, because the shell writes lines of its own. */
void progress_text(struct progress *progress, const char *text);

/* Erases the bar or the text, so that other lines can be written. progress_show() and
 * progress_text() may be called again later. */
void progress_clear(struct progress *progress);
