/*
 * A record on a whole terminal, redrawn repeatedly, and the keys pressed (ncurses). The text is
 * that of text_view: headings are reversed, cells have their colours where the terminal and
 * NO_COLOR permit. Text beyond the edges can be scrolled to.
 */
#pragma once

#include "record.h"

#include <camp/camp.h>

enum screen_key {
    SCREEN_NONE = -1, /* none was pressed in time */
    SCREEN_GONE = -2, /* the terminal was closed */
    SCREEN_UP = 256,  /* the others are the typed bytes */
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_RESIZED
};

/* False: stdin or stdout is no terminal, or an unsupported one; or camp was built without ncurses;
 * or, with an error that names the package, ncurses is not installed. */
bool screen_open(struct camp_error *error);
void screen_close(void);

/* The current size: 0 x 0 means 80 x 24. */
void screen_size(size_t *ret_columns, size_t *ret_lines);

/* `head` in the first line, then the record. Its lines up to the heading of its main table are
 * fixed; those below are shown from `*scroll` on, which is adjusted. */
void screen_draw(const char *head, const struct record *record, size_t *scroll);

/* `head`, then lines of plain text instead. */
void screen_draw_text(const char *head, const char *text);

/* Waits for a key until a timeout. */
int screen_key(int timeout_ms);

/* Asks for a line in the last line of the screen. False: cancelled (Esc). */
bool screen_ask(const char *question, char *ret, size_t capacity);
