/*
 * Barry3 on a terminal: each row of a table is a dot in a triangle, by its shares of three kinds of
 * time (ledger/vertex.h). The nearer a corner, the more of that: a dot at a corner did nothing
 * else.
 *
 * With UTF-8 a cell is 2 x 4 dots of braille. Dots that fall on each other lie side by side in
 * their cell, so that as many are seen as there are, up to 8. Without it a cell is a character for
 * how many are in it: . 1, : 2, o 4, O 8, @ 16 and more. Where there is room, the first points have
 * their name beside them (and how many others are in the cell), fuller cells a number, and the left
 * side its share of the upper vertex; a + on a side is a quarter.
 *
 * The last line says how many dots there are, and what is wrong: how many points have unaccounted
 * time (below 0: booked twice), what the vertices leave out, and how many points are nowhere,
 * having no time at any vertex. A label says of its point what is unaccounted ("un", percent).
 */
#ifndef CAMP_VIEWS_BARRY_H
#define CAMP_VIEWS_BARRY_H

#include "ledger/vertex.h"

struct barry_point {
    struct weights weights; /* by 3 vertices; all 0: it had no wall time */
    const char *name;       /* NULL: none */
};

struct barry {
    const char *const *names;         /* [3] of the vertices: top, left, right */
    const struct barry_point *points; /* [point_count], those to be named first */
    size_t point_count;
    size_t columns, rows;
    bool utf8; /* nl_langinfo(CODESET) is "UTF-8", so the locale is set */
};

/* Exactly `rows` lines, each ended by a newline and at most `columns` wide; the caller frees it.
 * Where there is no room for a triangle (below 5 rows or 4 columns) the first line says so. NULL:
 * no memory. */
char *barry_draw(const struct barry *barry);

#endif
