/*
 * A record on a whole terminal, again and again, and the keys pressed meanwhile (ncurses). The text
 * is that of text_view: headings are reversed, cells have their colours where the terminal and
 * NO_COLOR permit. What does not fit is cut, and can be scrolled to.
 */
#ifndef CAMP_VIEWS_SCREEN_H
#define CAMP_VIEWS_SCREEN_H

#include "record.h"

enum screen_key {
    SCREEN_NONE = -1, /* none was pressed in time */
    SCREEN_GONE = -2, /* the terminal is */
    SCREEN_UP = 256,  /* the others are the bytes of what was typed */
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_RESIZED
};

/* False: stdin or stdout is no terminal, or one that cannot be drawn on; or camp was built without
 * ncurses. */
bool screen_open(void);
void screen_close(void);

/* As it is now: a terminal that says 0 x 0 is taken for 80 x 24. */
void screen_size(size_t *ret_columns, size_t *ret_lines);

/* `head` in the first line, then the record. Its lines up to the heading of its main table stand
 * still; those below it are shown from `*scroll` on, which is made to fit. */
void screen_draw(const char *head, const struct record *record, size_t *scroll);

/* `head`, then lines of plain text instead. */
void screen_draw_text(const char *head, const char *text);

/* Waits for a key, so long at most. */
int screen_key(int timeout_ms);

/* Asks for a line in the last line of the screen. False: it was given up (Esc). */
bool screen_ask(const char *question, char *ret, size_t capacity);

#endif
