/*
 * A plot: an area with axes, in which lines, dots and filled areas are drawn (svg.h).
 *
 * Values are mapped linearly. A NAN breaks a line, and draws no dot. Values of a time axis are
 * seconds since 1970, shown in local time. A plot may have two vertical axes, left and right. Each
 * drawing function takes the vertical axis of its values.
 */
#pragma once

#include "svg.h"

#include <stdbool.h>
#include <stdint.h>

enum plot_axis_kind { PLOT_LINEAR, PLOT_TIME, PLOT_BARE /* an axis without ticks */ };

struct plot_axis {
    enum plot_axis_kind kind;
    const char *title; /* such as "CPU, %", or NULL */
    double minimum, maximum;
};

struct plot {
    FILE *stream;
    double left, top, width, height; /* the area, px; texts of the axes are outside of the area */
    struct plot_axis x, y;
    struct plot_axis right; /* there is no right axis if maximum == minimum */
};

/* Space needed outside of the area for the texts of axes. Each vertical axis needs
 * PLOT_MARGIN_SIDE. */
#define PLOT_MARGIN_SIDE 64
#define PLOT_MARGIN_END 24 /* at the right if there is no right axis */
#define PLOT_MARGIN_BELOW 44

#define PLOT_TICKS_MAXIMUM 24

/* Sets `ret` to the values at which an axis has ticks. There are at most `most` values; `most` is 2
 * to PLOT_TICKS_MAXIMUM. Numbers have steps of 1, 2 or 5 times a power of ten. Times have the steps
 * of a clock (such as 15 min) or whole days, counted from local midnight. Returns the number of
 * values. */
size_t plot_ticks(const struct plot_axis *axis, size_t most, double ret[PLOT_TICKS_MAXIMUM]);

/* Widens a linear axis to round limits. An axis with a single value gets some space around the
 * value. */
void plot_widen(struct plot_axis *axis);

/* Return the position of a value in pixels. `axis` is &plot->y or &plot->right. */
double plot_x(const struct plot *plot, double value);
double plot_y(const struct plot *plot, const struct plot_axis *axis, double value);

/* Draws the grid, the ticks with their labels, the titles and the frame. */
void plot_axes(const struct plot *plot);

/* Everything that is drawn until plot_end() is clipped to the area. `id` is the argument of
 * svg_clip(). */
void plot_start(const struct plot *plot, const char *id);
void plot_end(const struct plot *plot);

/* Draws a line through the points (xs[i], ys[i]) for i < count. Returns CAMP_OK or CAMP_E_NOMEM. */
int plot_line(const struct plot *plot, const struct plot_axis *axis, const double *xs,
              const double *ys, size_t count, const struct svg_look *look);
void plot_dots(const struct plot *plot, const struct plot_axis *axis, const double *xs,
               const double *ys, size_t count, double radius, const struct svg_look *look);
/* Draws the area between two lines that share the array xs[count]. A NAN in a line breaks the area.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int plot_area(const struct plot *plot, const struct plot_axis *axis, const double *xs,
              const double *lower, const double *upper, size_t count, const struct svg_look *look);

enum plot_mark { PLOT_AREA, PLOT_LINE, PLOT_DOT };

struct plot_legend {
    const char *title;
    enum plot_mark mark;
    struct svg_look look;
};

/* Draws the legend in rows of at most `width`, 18 px apart. `at` is where the first row starts, on
 * its base line. Returns the number of rows. */
size_t plot_legend(FILE *stream, struct svg_point at, double width,
                   const struct plot_legend *entries, size_t count);

/* Returns the number of rows that plot_legend() needs. */
size_t plot_legend_rows(double width, const struct plot_legend *entries, size_t count);
