/* A canvas of single characters, shared by the files that draw a Barry3 (barry.h). */
#pragma once

#include "barry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOTS_IN_CELL 8
#define HEIGHT_OF_QUARTERS 8 /* the sides of a triangle of at least this height have marks */
#define SHOWN_SHARE 0.0005   /* the least share that rounds to 0.1 % */

enum what {
    BLANK,
    BASE, /* the lower side, which may be overwritten */
    SIDE,
    TEXT, /* text or dots */
};

/* One character of the picture. */
struct spot {
    enum what what;
    bool is_second; /* the right half of a character of two columns: not written */
    char bytes[5];  /* UTF-8; empty: blank */
    uint8_t dots;   /* of braille */
    size_t count;   /* points in this character */
    size_t first;   /* index of the first of them */
    bool labelled;
};

struct canvas {
    const struct barry *barry;
    struct spot *spots; /* [rows x columns]; owned */
    size_t height;      /* height of the triangle, in cells; it is twice as wide. 0: no space */
    size_t left;        /* first column of the triangle */
    size_t drawn, fullest, incomplete;
    double worst, left_out; /* largest shares of a point */
};

/* The place of a dot of braille. */
struct place {
    struct spot *spot;
    size_t row, column; /* position of the character on the canvas */
    size_t x, y;        /* position of the dot within the character */
};

struct spot *barry_spot(const struct canvas *canvas, size_t row, size_t column);

/* Writes what fits into `limit` columns, and returns the columns used. row NULL: measures only. */
size_t barry_write(struct spot *row, const char *text, bool utf8, size_t limit);

/* The place of a point with these weights; false: they have no position. */
bool barry_place(const struct canvas *canvas, const struct weights *weights, struct place *ret);

/* The place on a side of the triangle, at this many quarters of the way between two vertices. */
struct place barry_quarter(const struct canvas *canvas, size_t from, size_t to, int quarters);

/* Writes the labels where space permits: names of the first points, numbers of points in full
 * cells, and shares on the left side. */
void barry_label(const struct canvas *canvas);
