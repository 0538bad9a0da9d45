#include "plot.h"

#include <camp/camp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_LENGTH 5
#define TICK_SIZE 11
#define PIXELS_A_TICK 48      /* smallest distance of ticks on a vertical axis */
#define PIXELS_A_TIME_TICK 88 /* smallest distance of ticks on the horizontal axis */
#define NEAR 1e-9             /* tolerance in steps, so that rounding errors do not drop a tick */
#define DAY 86400.0
#define LEGEND_ROW 18
#define LEGEND_MARK 18
#define LEGEND_GAP 18

/* Returns the smallest value of the form 1, 2 or 5 x 10^k that is at least `least`. */
static double round_step(double least)
{
    static const double digits[] = { 1, 2, 5 };
    const double power = pow(10, floor(log10(least)));

    for (size_t i = 0; i < sizeof digits / sizeof digits[0]; i++) {
        if (digits[i] * power >= least * (1 - NEAR))
            return digits[i] * power;
    }
    return 10 * power;
}

static double clock_step(double least)
{
    static const double steps[] = { 1,     2,     5,     10,  15,      30,     60,
                                    120,   300,   600,   900, 1800,    3600,   7200,
                                    10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY };

    if (least < 1)
        return round_step(least);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i] >= least * (1 - NEAR))
            return steps[i];
    }
    return DAY * round_step(least / DAY);
}

static double offset_of(const struct plot_axis *axis)
{
    const time_t seconds = (time_t)axis->minimum;
    struct tm broken;

    if (axis->kind != PLOT_TIME || localtime_r(&seconds, &broken) == NULL)
        return 0;
    return (double)(timegm(&broken) - seconds);
}

static double step_of(const struct plot_axis *axis, size_t most)
{
    const double least = (axis->maximum - axis->minimum) / (double)most;

    return axis->kind == PLOT_TIME ? clock_step(least) : round_step(least);
}

size_t plot_ticks(const struct plot_axis *axis, size_t most, double ret[PLOT_TICKS_MAXIMUM])
{
    const double offset = offset_of(axis);
    double step, first, last;
    size_t count = 0;

    if (axis->kind == PLOT_BARE || !(axis->maximum > axis->minimum) ||
        !isfinite(axis->maximum - axis->minimum))
        return 0;
    most = most < 2 ? 2 : most > PLOT_TICKS_MAXIMUM ? PLOT_TICKS_MAXIMUM : most;
    step = step_of(axis, most - 1); /* there is one tick more than there are steps */
    first = ceil((axis->minimum + offset) / step - NEAR);
    last = floor((axis->maximum + offset) / step + NEAR);
    for (double at = first; at <= last && count < most; at++)
        ret[count++] = at * step - offset;
    return count;
}

void plot_widen(struct plot_axis *axis)
{
    double step;

    if (!(axis->maximum > axis->minimum)) {
        const double room = fmax(fabs(axis->minimum) / 10, 1e-3);

        axis->maximum = axis->minimum + room;
        axis->minimum -= room;
    }
    step = step_of(axis, 5);
    axis->minimum = step * floor(axis->minimum / step + NEAR);
    axis->maximum = step * ceil(axis->maximum / step - NEAR);
}

static void number_text(char *ret, size_t capacity, double value, double step)
{
    const double decimals = ceil(-log10(step) - NEAR);

    if (fabs(value) < step / 2)
        value = 0; /* avoids "-0" */
    if (fabs(value) >= 1e7)
        snprintf(ret, capacity, "%.3g", value);
    else
        snprintf(ret, capacity, "%.*f", decimals > 0 ? (int)fmin(decimals, 9) : 0, value);
}

static void time_text(char *ret, size_t capacity, double value, double step)
{
    const time_t seconds = (time_t)floor(value + NEAR);
    struct tm broken;

    if (localtime_r(&seconds, &broken) == NULL) {
        snprintf(ret, capacity, "?");
        return;
    }
    strftime(ret, capacity, step >= DAY ? "%m-%d" : step >= 60 ? "%H:%M" : "%H:%M:%S", &broken);
    if (step < 1)
        snprintf(ret + strlen(ret), capacity - strlen(ret), ".%03d",
                 (int)((value - (double)seconds) * 1000 + 0.5) % 1000);
}

static void tick_text(char *ret, size_t capacity, const struct plot_axis *axis, double value,
                      double step)
{
    if (axis->kind == PLOT_TIME)
        time_text(ret, capacity, value, step);
    else
        number_text(ret, capacity, value, step);
}

double plot_x(const struct plot *plot, double value)
{
    return plot->left +
           plot->width * (value - plot->x.minimum) / (plot->x.maximum - plot->x.minimum);
}

double plot_y(const struct plot *plot, const struct plot_axis *axis, double value)
{
    return plot->top + plot->height * (axis->maximum - value) / (axis->maximum - axis->minimum);
}

static size_t ticks_along(double pixels, double each)
{
    const double most = pixels / each + 1;

    return most < 2 ? 2 : most > 12 ? 12 : (size_t)most;
}

/* Returns `x`, or less if a text centred at `x` would leave the picture at the right. */
static double label_x(const struct plot *plot, double x, const char *text)
{
    return fmin(x,
                plot->left + plot->width + PLOT_MARGIN_END - svg_text_width(text, TICK_SIZE) / 2);
}

static void draw_x(const struct plot *plot)
{
    const size_t most = ticks_along(plot->width, PIXELS_A_TIME_TICK);
    const double base = plot->top + plot->height;
    double ticks[PLOT_TICKS_MAXIMUM];
    const size_t count = plot_ticks(&plot->x, most, ticks);
    char text[32];

    for (size_t i = 0; i < count; i++) {
        const double x = plot_x(plot, ticks[i]);

        svg_line(plot->stream, (struct svg_point){ x, plot->top },
                 (struct svg_point){ x, base + TICK_LENGTH },
                 &(struct svg_look){ .class = SVG_GRID });
        tick_text(text, sizeof text, &plot->x, ticks[i], step_of(&plot->x, most - 1));
        svg_text(plot->stream,
                 (struct svg_point){ label_x(plot, x, text), base + TICK_LENGTH + TICK_SIZE },
                 SVG_MIDDLE, SVG_TICK, text);
    }
    if (plot->x.title != NULL)
        svg_text(plot->stream, (struct svg_point){ plot->left + plot->width / 2, base + 36 },
                 SVG_MIDDLE, SVG_NAME, plot->x.title);
}

/* Draws a vertical axis. `side` is -1 for the left axis, which has the grid, and 1 for the right
 * axis. */
static void draw_y(const struct plot *plot, const struct plot_axis *axis, double side)
{
    const size_t most = ticks_along(plot->height, PIXELS_A_TICK);
    const double edge = side < 0 ? plot->left : plot->left + plot->width;
    double ticks[PLOT_TICKS_MAXIMUM];
    const size_t count = plot_ticks(axis, most, ticks);
    char text[32];

    for (size_t i = 0; i < count; i++) {
        const double y = plot_y(plot, axis, ticks[i]);
        const double inner = side < 0 ? plot->left + plot->width : edge;

        svg_line(plot->stream, (struct svg_point){ edge + side * TICK_LENGTH, y },
                 (struct svg_point){ inner, y }, &(struct svg_look){ .class = SVG_GRID });
        tick_text(text, sizeof text, axis, ticks[i], step_of(axis, most - 1));
        svg_text(plot->stream, (struct svg_point){ edge + side * (TICK_LENGTH + 4), y + 4 },
                 side < 0 ? SVG_END : SVG_START, SVG_TICK, text);
    }
    if (axis->title != NULL)
        svg_text_upwards(
            plot->stream,
            (struct svg_point){ edge + side * (PLOT_MARGIN_SIDE - 17) + (side > 0 ? TICK_SIZE : 0),
                                plot->top + plot->height / 2 },
            SVG_MIDDLE, SVG_NAME, axis->title);
}

void plot_axes(const struct plot *plot)
{
    svg_group(plot->stream, "axes");
    draw_x(plot);
    draw_y(plot, &plot->y, -1);
    if (plot->right.maximum > plot->right.minimum)
        draw_y(plot, &plot->right, 1);
    svg_rect(plot->stream, plot->left, plot->top, plot->width, plot->height,
             &(struct svg_look){ .class = SVG_FRAME });
    svg_group_end(plot->stream);
}

void plot_start(const struct plot *plot, const char *id)
{
    svg_clip(plot->stream, id, plot->left, plot->top, plot->width, plot->height);
}

void plot_end(const struct plot *plot)
{
    svg_group_end(plot->stream);
}

static struct svg_point point_of(const struct plot *plot, const struct plot_axis *axis, double x,
                                 double y)
{
    return (struct svg_point){ plot_x(plot, x), plot_y(plot, axis, y) };
}

int plot_line(const struct plot *plot, const struct plot_axis *axis, const double *xs,
              const double *ys, size_t count, const struct svg_look *look)
{
    struct svg_point *points = calloc(count + 1, sizeof *points);
    size_t length = 0;

    if (points == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && isfinite(xs[i]) && isfinite(ys[i])) {
            points[length++] = point_of(plot, axis, xs[i], ys[i]);
            continue;
        }
        /* A single point between gaps is drawn as a dot, because a line would be invisible. */
        if (length == 1)
            svg_circle(plot->stream, points[0], 1, &(struct svg_look){ .fill = look->stroke },
                       NULL);
        else if (length > 1)
            svg_polyline(plot->stream, points, length, look);
        length = 0;
    }
    free(points);
    return CAMP_OK;
}

void plot_dots(const struct plot *plot, const struct plot_axis *axis, const double *xs,
               const double *ys, size_t count, double radius, const struct svg_look *look)
{
    for (size_t i = 0; i < count; i++) {
        if (isfinite(xs[i]) && isfinite(ys[i]))
            svg_circle(plot->stream, point_of(plot, axis, xs[i], ys[i]), radius, look, NULL);
    }
}

static void draw_area(const struct plot *plot, const struct plot_axis *axis, const double *xs,
                      const double *lower, const double *upper, size_t count,
                      struct svg_point *points, const struct svg_look *look)
{
    for (size_t i = 0; i < count; i++) {
        points[i] = point_of(plot, axis, xs[i], upper[i]);
        points[2 * count - 1 - i] = point_of(plot, axis, xs[i], lower[i]);
    }
    svg_polygon(plot->stream, points, 2 * count, look);
}

int plot_area(const struct plot *plot, const struct plot_axis *axis, const double *xs,
              const double *lower, const double *upper, size_t count, const struct svg_look *look)
{
    struct svg_point *points = calloc(2 * count + 1, sizeof *points);
    size_t begin = 0;

    if (points == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && isfinite(xs[i]) && isfinite(lower[i]) && isfinite(upper[i]))
            continue;
        if (i - begin > 1)
            draw_area(plot, axis, xs + begin, lower + begin, upper + begin, i - begin, points,
                      look);
        begin = i + 1;
    }
    free(points);
    return CAMP_OK;
}

static void draw_mark(FILE *stream, struct svg_point at, const struct plot_legend *entry)
{
    const double middle = at.y - 4;

    if (entry->mark == PLOT_AREA)
        svg_rect(stream, at.x, middle - 6, LEGEND_MARK - 6, 12, &entry->look);
    else if (entry->mark == PLOT_LINE)
        svg_line(stream, (struct svg_point){ at.x - 2, middle },
                 (struct svg_point){ at.x + LEGEND_MARK - 4, middle }, &entry->look);
    else
        svg_circle(stream, (struct svg_point){ at.x + 6, middle }, 4, &entry->look, NULL);
}

/* Draws the entries, unless the stream is NULL. Returns the number of rows. */
static size_t put_legend(FILE *stream, struct svg_point at, double width,
                         const struct plot_legend *entries, size_t count)
{
    const double left = at.x;
    size_t rows = 1;

    for (size_t i = 0; i < count; i++) {
        const double wide = LEGEND_MARK + svg_text_width(entries[i].title, 12);

        if (at.x > left && at.x + wide > left + width) {
            at = (struct svg_point){ left, at.y + LEGEND_ROW };
            rows++;
        }
        if (stream != NULL) {
            draw_mark(stream, at, &entries[i]);
            svg_text(stream, (struct svg_point){ at.x + LEGEND_MARK, at.y }, SVG_START, NULL,
                     entries[i].title);
        }
        at.x += wide + LEGEND_GAP;
    }
    return rows;
}

size_t plot_legend(FILE *stream, struct svg_point at, double width,
                   const struct plot_legend *entries, size_t count)
{
    size_t rows;

    svg_group(stream, "legend");
    rows = put_legend(stream, at, width, entries, count);
    svg_group_end(stream);
    return rows;
}

size_t plot_legend_rows(double width, const struct plot_legend *entries, size_t count)
{
    return put_legend(NULL, (struct svg_point){ 0 }, width, entries, count);
}
