/*
 * A plot: an area with axes, on which lines, dots and filled areas are drawn (svg.h).
 *
 * Values are mapped linearly; NAN breaks a line and draws no dot. Values of a time axis are seconds
 * since 1970, shown in local time. A plot may have two vertical axes, left and right; each call
 * says which one its values use.
 */
#pragma once

#include "svg.h"

#include <stdbool.h>
#include <stdint.h>

enum plot_axis_kind { PLOT_LINEAR, PLOT_TIME, PLOT_BARE /* without ticks */ };

struct plot_axis {
    enum plot_axis_kind kind;
    const char *title; /* "CPU, %"; NULL: none */
    double minimum, maximum;
};

struct plot {
    FILE *stream;
    double left, top, width, height; /* of the area; texts of the axes are outside of it */
    struct plot_axis x, y;
    struct plot_axis right; /* maximum == minimum: no such axis */
};

/* Maximum space outside of the area, for placing it: left (and right, of two axes), and below. */
#define PLOT_MARGIN_SIDE 64
#define PLOT_MARGIN_END 24 /* right, with one vertical axis */
#define PLOT_MARGIN_BELOW 44

#define PLOT_TICKS_MAXIMUM 24

/* Round values within [minimum, maximum], at most `most` (1 to PLOT_TICKS_MAXIMUM): steps of 1, 2
 * or 5 times a power of ten; for times those of a clock and whole days, counted from local
 * midnight. Returns their number. */
size_t plot_ticks(const struct plot_axis *axis, size_t most, double ret[PLOT_TICKS_MAXIMUM]);

/* Widens an axis to round limits; linear only. When all values are the same, it gets some space
 * around them. */
void plot_widen(struct plot_axis *axis);

/* The position of a value, in pixels. `axis`: &plot->y or &plot->right. */
double plot_x(const struct plot *plot, double value);
double plot_y(const struct plot *plot, const struct plot_axis *axis, double value);

/* Grid, ticks with their labels, titles, frame: before the data. */
void plot_axes(const struct plot *plot);

/* Clips everything until plot_end() to the area. `id` as svg_clip(). */
void plot_start(const struct plot *plot, const char *id);
void plot_end(const struct plot *plot);

/* A line through (xs[i], ys[i]), i < count, in their order. CAMP_OK or CAMP_E_NOMEM. */
int plot_line(const struct plot *plot, const struct plot_axis *axis, const double *xs,
              const double *ys, size_t count, const struct svg_look *look);
void plot_dots(const struct plot *plot, const struct plot_axis *axis, const double *xs,
               const double *ys, size_t count, double radius, const struct svg_look *look);
/* The area between two lines over the same xs, [count] each. NAN in either breaks it. */
int plot_area(const struct plot *plot, const struct plot_axis *axis, const double *xs,
              const double *lower, const double *upper, size_t count, const struct svg_look *look);

enum plot_mark { PLOT_AREA, PLOT_LINE, PLOT_DOT };

struct plot_legend {
    const char *title;
    enum plot_mark mark;
    struct svg_look look;
};

/* The legend in a row from `at` (the base line of the first text) to the right, with further rows
 * 18 px below once `width` is used up. Returns the number of rows. */
size_t plot_legend(FILE *stream, struct svg_point at, double width,
                   const struct plot_legend *entries, size_t count);
