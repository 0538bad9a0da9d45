/*
 * A full-screen view (ncurses) that is redrawn for each record. The text is that of text_view, with
 * headings in reverse video. Colours are used if the terminal and NO_COLOR permit. Rows that do not
 * fit can be reached by scrolling.
 */
#pragma once

#include "views/record.h"

#include <camp/camp.h>

enum screen_key {
    SCREEN_NONE = -1, /* no key was pressed before the timeout */
    SCREEN_GONE = -2, /* the terminal was closed */
    SCREEN_UP = 256,  /* values from 0 to 255 are typed bytes */
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_RESIZED
};

/* Returns false without an error if stdin or stdout is not a supported terminal, or if camp was
 * built without ncurses. Returns false with an error that names the package if ncurses is not
 * installed. */
bool screen_open(struct camp_error *error);
void screen_close(void);

/* Returns the current size of the terminal, or 80 x 24 if the size is unknown. */
void screen_size(size_t *ret_columns, size_t *ret_lines);

/* Shows `head` in the first line, and the record as text below. The text down to the heading of the
 * main table does not scroll. *scroll lines after this heading are skipped. If *scroll is larger
 * than needed to show the last line, it is reduced. */
void screen_draw(const char *head, const struct record *record, size_t *scroll);

void screen_draw_text(const char *head, const char *text);

/* Waits at most `timeout_ms` for a key, or without a limit if it is negative. Returns an enum
 * screen_key or the typed byte. */
int screen_key(int timeout_ms);

/* Shows `question` in the last line of the screen, and reads an answer. Returns false if the user
 * cancels with Esc. */
bool screen_ask(const char *question, char *ret, size_t capacity);
