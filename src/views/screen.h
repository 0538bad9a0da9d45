/*
 * A full-screen view (ncurses), redrawn for each record, and its keys. The text is that of
 * text_view, with headings in reverse video, and with colours if the terminal and NO_COLOR permit.
 * Rows that do not fit can be scrolled to.
 */
#pragma once

#include "record.h"

#include <camp/camp.h>

enum screen_key {
    SCREEN_NONE = -1, /* no key before the timeout */
    SCREEN_GONE = -2, /* the terminal was closed */
    SCREEN_UP = 256,  /* smaller values: a typed byte */
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_RESIZED
};

/* False without an error: stdin or stdout is not a supported terminal, or camp was built without
 * ncurses. False with an error that names the package: ncurses is not installed. */
bool screen_open(struct camp_error *error);
void screen_close(void);

/* The current size; 80 x 24 if it is unknown. */
void screen_size(size_t *ret_columns, size_t *ret_lines);

/* Shows `head` in the first line, then the record as text. The text up to the heading of the main
 * table is fixed; `*scroll` lines below it are skipped, but at most as many as do not fit. Returns
 * the number of skipped lines in `*scroll`. */
void screen_draw(const char *head, const struct record *record, size_t *scroll);

/* Shows `head`, then lines of plain text. */
void screen_draw_text(const char *head, const char *text);

/* Waits for a key. Returns an enum screen_key or the typed byte. */
int screen_key(int timeout_ms);

/* Shows `question` in the last line of the screen, and reads an answer. False: cancelled (Esc). */
bool screen_ask(const char *question, char *ret, size_t capacity);
