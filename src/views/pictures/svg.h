/*
 * The writer of all pictures: SVG 1.1 on white, without external parts. Text stays text (not
 * outlines); a title and a description are for screen readers.
 *
 * Coordinates are in pixels (user units) from the upper left corner, written with at most two
 * decimals in any locale; NAN is written as 0. Texts may be any bytes: XML's special characters are
 * escaped, invalid ones become U+FFFD, so that the picture is always well-formed. The functions
 * return no errors: check the stream once at the end (ferror(), fclose()).
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Classes of the picture's own style sheet, for texts (dark grey, 12 px unless stated) ... */
#define SVG_TITLE "title" /* title of the picture: 16 px, bold */
#define SVG_NAME "name"   /* name of an axis or a vertex: 13 px, bold */
#define SVG_TICK "tick"   /* text beside a tick: 11 px, grey */
#define SVG_LABEL "label" /* text beside a dot: 11 px, with a white edge */
#define SVG_NOTE "note"   /* text below the picture: 11 px, grey */
/* ... for dots (with a white edge) and the rings around them ... */
#define SVG_DOT "dot"
#define SVG_MISSING "missing"   /* time in no state: red */
#define SVG_OVER "over"         /* time accounted twice: black */
#define SVG_LEFT_OUT "left-out" /* time in states at no vertex: blue, dashed */
/* ... and for lines */
#define SVG_GRID "grid"   /* light grey, 1 px */
#define SVG_FRAME "frame" /* dark grey, 1.2 px, not filled */

/* The look of a shape. A member that is NULL or 0 is that of the shape's class. */
struct svg_look {
    const char *class;
    const char *fill;   /* "#5a91ff", or "none" */
    const char *stroke; /* likewise */
    double stroke_width;
    double opacity; /* above 0, below 1 */
    const char *dashes;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_point {
    double x, y;
};

/* Writes the head, the style sheet, the background, and the title in the picture's first line. */
void svg_start(FILE *stream, double width, double height, const char *title,
               const char *description);
void svg_end(FILE *stream);

/* Groups everything until svg_group_end(). `class` NULL: none. */
void svg_group(FILE *stream, const char *class);
void svg_group_end(FILE *stream);
/* Likewise, clipped to the rectangle. `id`: a word, unique in the picture. */
void svg_clip(FILE *stream, const char *id, double x, double y, double width, double height);

void svg_line(FILE *stream, struct svg_point from, struct svg_point to,
              const struct svg_look *look);
void svg_polyline(FILE *stream, const struct svg_point *points, size_t count,
                  const struct svg_look *look);
void svg_polygon(FILE *stream, const struct svg_point *points, size_t count,
                 const struct svg_look *look);
void svg_rect(FILE *stream, double x, double y, double width, double height,
              const struct svg_look *look);
/* `title`: the tooltip; NULL: none. */
void svg_circle(FILE *stream, struct svg_point centre, double radius, const struct svg_look *look,
                const char *title);

/* Coloured cells in few bytes, in lines of the height `cell` from `origin` down. Call svg_cells();
 * for each colour svg_cells_colour() and then svg_cells_run() for its runs; then svg_cells_end().
 * `x` and `width` are in pixels, relative to the origin. */
void svg_cells(FILE *stream, struct svg_point origin, double cell);
void svg_cells_colour(FILE *stream, const char *colour);
void svg_cells_run(FILE *stream, size_t line, double x, double width);
void svg_cells_end(FILE *stream);

/* `at` is on the base line, at the text's anchor. */
void svg_text(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
              const char *text);
/* Likewise, but the text reads upwards. */
void svg_text_upwards(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
                      const char *text);

/* Writes any bytes as text of XML or HTML; also valid within quotes. */
void svg_escape(FILE *stream, const char *text);

/* Hash of the picture's style sheet, for the policy (CSP) of a page that includes it: "sha256-...".
 * A unit test checks it. */
extern const char svg_style_hash[];

/* Approximate width of a text (the font is the reader's), to avoid overlaps. */
double svg_text_width(const char *text, double font_size);

/* The number of bytes of a text that fit into a width; whole characters only. */
size_t svg_text_fit(const char *text, double font_size, double width);
