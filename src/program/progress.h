/* The progress of a long operation: a bar or a line of text on stderr, if it is a terminal. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* All zero: not started. */
struct progress {
    uint64_t begin_ns, drawn_ns; /* CLOCK_MONOTONIC */
    size_t width;                /* columns in use; 0: nothing is shown */
};

/* Draws a bar, once the operation has taken a while. `context` is a struct progress *: the function
 * has the type of struct from's progress(). */
void progress_show(void *context, uint64_t done, uint64_t total);

/* Replaces the last text by this one at once, cut to the terminal's width. Shows nothing in the
 * background of a shell, because the text would be mixed with the shell's own lines. */
void progress_text(struct progress *progress, const char *text);

/* Erases the bar or the text, so that other lines can be written. progress_show() and
 * progress_text() may be called again after it. */
void progress_clear(struct progress *progress);
