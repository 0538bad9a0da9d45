/*
 * The writer of all pictures: SVG 1.1 on white, without external parts. Text is written as text,
 * not as outlines. The title and the description of a picture are for screen readers.
 *
 * Coordinates are in pixels (user units) from the upper left corner. They are written with at most
 * two decimals in any locale, and NAN is written as 0. Texts may be any bytes. Special characters
 * of XML are escaped, and invalid bytes become U+FFFD, so that the picture is always well-formed.
 * The functions return no errors. The caller checks the stream once at the end (ferror(),
 * fclose()).
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Classes of texts in the picture's style sheet. Texts are dark grey and 12 px high unless stated
 * otherwise. */
#define SVG_TITLE "title" /* title of the picture: 16 px, bold */
#define SVG_NAME "name"   /* name of an axis or a vertex: 13 px, bold */
#define SVG_TICK "tick"   /* text beside a tick: 11 px, grey */
#define SVG_LABEL "label" /* text beside a dot: 11 px, with a white edge */
#define SVG_NOTE "note"   /* text below the picture: 11 px, grey */
/* Classes of dots (with a white edge) and of the rings around dots. */
#define SVG_DOT "dot"
#define SVG_MISSING "missing"   /* red, for time in no state */
#define SVG_OVER "over"         /* black, for time accounted twice */
#define SVG_LEFT_OUT "left-out" /* blue and dashed, for time in states that belong to no vertex */
/* Classes of lines. */
#define SVG_GRID "grid"   /* light grey, 1 px */
#define SVG_FRAME "frame" /* dark grey, 1.2 px, not filled */

/* The look of a shape. A member that is NULL or 0 is not written, so that the shape's class
 * determines this property. */
struct svg_look {
    const char *class;
    const char *fill; /* "#2a71b1", or "none" */
    const char *stroke;
    double stroke_width;
    double opacity; /* written only if above 0 and below 1 */
    const char *dashes;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg_point {
    double x, y;
};

/* Writes the head, the style sheet, the background, and the title in the first line of the
 * picture. */
void svg_start(FILE *stream, double width, double height, const char *title,
               const char *description);
void svg_end(FILE *stream);

/* Groups all elements until svg_group_end(). `class` may be NULL. */
void svg_group(FILE *stream, const char *class);
void svg_group_end(FILE *stream);
/* Like svg_group(), but clips the elements to the rectangle. `id` is a word that is unique in the
 * picture. */
void svg_clip(FILE *stream, const char *id, double x, double y, double width, double height);

/* Defines a fill of slanted lines in this colour. Shapes use it as the fill SVG_HATCHED. */
#define SVG_HATCHED "url(#hatched)"
void svg_hatch(FILE *stream, const char *colour);

void svg_line(FILE *stream, struct svg_point from, struct svg_point to,
              const struct svg_look *look);
void svg_polyline(FILE *stream, const struct svg_point *points, size_t count,
                  const struct svg_look *look);
void svg_polygon(FILE *stream, const struct svg_point *points, size_t count,
                 const struct svg_look *look);
void svg_rect(FILE *stream, double x, double y, double width, double height,
              const struct svg_look *look);
/* `title` is the tooltip, or NULL. */
void svg_circle(FILE *stream, struct svg_point centre, double radius, const struct svg_look *look,
                const char *title);

/* Draws coloured cells in few bytes. The cells are in lines of the height `cell`, from `origin`
 * downwards. Call svg_cells() first. For each colour, call svg_cells_colour(), and then
 * svg_cells_run() for each row of adjacent cells. Call svg_cells_end() last. `x` and `width` are in
 * pixels, relative to `origin`. */
void svg_cells(FILE *stream, struct svg_point origin, double cell);
void svg_cells_colour(FILE *stream, const char *colour);
void svg_cells_run(FILE *stream, size_t line, double x, double width);
void svg_cells_end(FILE *stream);

/* `at` is the position of the text's anchor on the base line. */
void svg_text(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
              const char *text);
/* Like svg_text(), but the text reads upwards. */
void svg_text_upwards(FILE *stream, struct svg_point at, enum svg_anchor anchor, const char *class,
                      const char *text);

/* Writes any bytes as text of XML or HTML. The result is also valid within double quotes. An
 * invalid byte, or an unprintable character except a line feed or a tab, becomes U+FFFD. */
void svg_escape(FILE *stream, const char *text);

/* The hash ("sha256-...") of the picture's style sheet, for the content security policy (CSP) of a
 * page that includes the picture. A unit test checks the hash. */
extern const char svg_style_hash[];

/* Returns the approximate width of a text, to avoid overlaps. The exact width depends on the
 * reader's font. */
double svg_text_width(const char *text, double font_size);

/* Returns the number of bytes of a text that fit into a width. Only whole characters count. */
size_t svg_text_fit(const char *text, double font_size, double width);
