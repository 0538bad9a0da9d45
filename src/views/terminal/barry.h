/*
 * Barry3 (pictures/picture.h) as text: a triangle with a dot for each row of a table. The dot's
 * position shows the row's shares of three kinds of time (ledger/vertex.h). The larger the share of
 * a kind, the nearer the dot is to the corner of that kind.
 *
 * With UTF-8, a character cell has 2 x 4 braille dots. Dots with the same position are placed side
 * by side in their cell, so that up to 8 dots are visible. Without UTF-8, a character shows the
 * number of dots in a cell: "." means 1, ":" means 2 or 3, "o" means 4 to 7, "O" means 8 to 15, and
 * "@" means 16 or more.
 *
 * Labels are written where there is space:
 *
 *  - Dots are named in the order of the rows. After a name come the number of other dots in the
 *    cell ("+3") and the unaccounted time of the row ("un 1.5%").
 *  - A cell with more than 8 dots gets the number of dots.
 *  - On the left side, "+" marks 25 %, 50 % and 75 % of the kind at the upper corner.
 *
 * The last line shows the number of dots and the problems. Problems are unaccounted time (below 0
 * if time was accounted twice), time in states that belong to no corner ("left out"), and rows that
 * have no dot because all their time is left out ("nowhere").
 */
#pragma once

#include "ledger/vertex.h"

struct barry_point {
    /* All shares are 0 if the row has no wall time. */
    struct weights weights;
    const char *name; /* NULL if the point gets no name */
};

struct barry {
    const char *const *names;         /* [3] names of the top, left and right vertex */
    const struct barry_point *points; /* [point_count]; names are written in this order */
    size_t point_count;
    size_t columns, rows;
    bool utf8; /* true if the locale is set and nl_langinfo(CODESET) is "UTF-8" */
};

/* Returns exactly `rows` lines, each at most `columns` wide and ended by a newline. The caller
 * frees the text. If a triangle does not fit (fewer than 5 rows or 4 columns), the first line says
 * so. Returns NULL if there is no memory. */
char *barry_draw(const struct barry *barry);
