/* A canvas of character cells, shared by the files that draw a triangle (barry.h). */
#pragma once

#include "barry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOTS_IN_CELL 8
/* A triangle with fewer lines has no marks at the quarters of its sides. */
#define HEIGHT_OF_QUARTERS 8
/* The smallest share that is shown as 0.1 % instead of 0.0 %. */
#define SHOWN_SHARE 0.0005

enum what {
    BLANK,
    BASE, /* the lower side of the triangle, which labels may overwrite */
    SIDE,
    TEXT,
};

struct spot {
    enum what what;
    bool is_second; /* true for the right half of a character that is two columns wide */
    char bytes[5];  /* one UTF-8 character; "" is a blank */
    uint8_t dots;
    size_t count;
    size_t first; /* index of the first point in this cell */
    bool labelled;
};

struct canvas {
    const struct barry *barry;
    struct spot *spots; /* [rows x columns] */
    size_t height;      /* height of the triangle in cells; 0 if there is no space */
    size_t left;
    size_t drawn, fullest, incomplete;
    double worst, left_out; /* largest unaccounted and left-out share of a point */
};

struct place {
    struct spot *spot;
    size_t row, column; /* position of the character on the canvas */
    size_t x, y;        /* position of the dot within the character */
};

struct spot *barry_spot(const struct canvas *canvas, size_t row, size_t column);

/* Writes as much of the text as fits into `limit` columns, and returns the number of columns used.
 * If `row` is NULL, the text is only measured. */
size_t barry_write(struct spot *row, const char *text, bool utf8, size_t limit);

/* Sets *ret to the place of a point. Returns false if the point's shares of the vertices are all
 * 0. */
bool barry_place(const struct canvas *canvas, const struct weights *weights, struct place *ret);

/* Returns the place on a side of the triangle, `quarters` quarters of the way from vertex `from` to
 * vertex `to`. */
struct place barry_quarter(const struct canvas *canvas, size_t from, size_t to, int quarters);

void barry_label(const struct canvas *canvas);
