/*
 * The whole terminal (ncurses): shows a record, redrawn repeatedly, and reads keys. The text is
 * that of text_view: headings are reversed, cells have their colours if the terminal and NO_COLOR
 * permit. Rows that do not fit can be scrolled to.
 */
#pragma once

#include "record.h"

#include <camp/camp.h>

enum screen_key {
    SCREEN_NONE = -1, /* none was pressed in time */
    SCREEN_GONE = -2, /* the terminal was closed */
    SCREEN_UP = 256,  /* below: a typed byte */
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

/* Shows `head` in the first line, then the record. Its lines up to the heading of the main table
 * are fixed; the lines below are shown from `*scroll` on, which is limited to the last screen. */
void screen_draw(const char *head, const struct record *record, size_t *scroll);

/* Shows `head`, then lines of plain text. */
void screen_draw_text(const char *head, const char *text);

/* Waits for a key until a timeout. */
int screen_key(int timeout_ms);

/* Asks for a line in the last line of the screen. False: cancelled (Esc). */
bool screen_ask(const char *question, char *ret, size_t capacity);
