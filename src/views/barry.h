/*
 * Barry3 on a terminal: each row of a table is a dot in a triangle, by its shares of three kinds of
 * time (ledger/vertex.h). The nearer a corner, the larger that share: a dot at a corner has nothing
 * else.
 *
 * With UTF-8 a cell has 2 x 4 dots of braille. Coinciding dots are placed side by side in their
 * cell, so that up to 8 are visible. Without UTF-8 a character shows the number of points in a
 * cell:
 * "." 1, ":" 2 or more, "o" 4, "O" 8, "@" 16.
 *
 * Where space permits, the first points have their names beside them, with the number of other
 * points in the cell; fuller cells have a number; the quarters of the left side (+) have their
 * share of the upper vertex.
 *
 * The last line has the number of dots and the problems: points with unaccounted time (below 0:
 * time accounted twice), time at no vertex, and points without a position because all their time is
 * at no vertex. A label includes its point's unaccounted time ("un", percent).
 */
#pragma once

#include "ledger/vertex.h"

struct barry_point {
    struct weights weights; /* shares of the 3 vertices; all 0: no wall time */
    const char *name;       /* NULL: none */
};

struct barry {
    const char *const *names;         /* [3] of the vertices: top, left, right */
    const struct barry_point *points; /* [point_count], the first ones get names */
    size_t point_count;
    size_t columns, rows;
    bool utf8; /* nl_langinfo(CODESET) is "UTF-8", so the locale is set */
};

/* Returns exactly `rows` lines, each ended by a newline and at most `columns` wide, which the
 * caller frees. If a triangle does not fit (below 5 rows or 4 columns), the first line says so.
 * NULL: no memory. */
char *barry_draw(const struct barry *barry);
