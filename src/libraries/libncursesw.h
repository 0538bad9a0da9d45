/* The library for full-screen terminal views, loaded when it is needed (library.h). The struct has
 * pointers to variables, too: the number of lines is *libncursesw.LINES. */
#pragma once

#include "library.h"

#define NCURSES_NOMACROS /* curses.h then declares functions; dlsym() finds no macros */
#include <curses.h>

/* clang-format off */
#define LIBNCURSESW_SYMBOLS(F) \
    F(COLOR_PAIR) F(COLS) F(LINES) F(attrset) F(cbreak) F(clrtoeol) F(curs_set) F(delscreen) \
    F(endwin) F(erase) F(getch) F(has_colors) F(init_pair) F(keypad) F(move) F(mvaddch) \
    F(mvaddnstr) F(newterm) F(noecho) F(printw) F(refresh) F(set_escdelay) F(start_color) \
    F(stdscr) F(timeout) F(use_default_colors)
/* clang-format on */

struct libncursesw {
    LIBNCURSESW_SYMBOLS(LIBRARY_POINTER)
};
extern struct libncursesw libncursesw;
extern struct library libncursesw_library;
