#include "picture_error.h"

#include "ledger/words.h"
#include "palette.h"
#include "picture_parts.h"
#include "plot.h"

#include <camp/camp.h>

#include <math.h>
#include <stdlib.h>

#define WIDTH 800
#define HEIGHT 440
#define TOP 64  /* height of title and legend */
#define SIDE 72 /* width of a vertical axis with its margin */
#define RADIUS 2.5
#define LINE_HEIGHT 15
#define DAY_NS (86400 * INT64_C(1000000000))
#define CURVE_POINTS 200
#define ROOM 1.02    /* maximum of an axis, relative to its highest dot */
#define AXIS_TICKS 6 /* plot_widen() chooses at most 5 steps, which have 6 ticks */
/* Points are connected if they are at most this many interval lengths apart. */
#define GAP 1.5

int error_picture_fit(struct error_picture *picture)
{
    free(picture->points);
    picture->point_count = 0;
    picture->points = calloc(picture->series.count + 1, sizeof *picture->points);
    if (picture->points == NULL)
        return CAMP_E_NOMEM;
    picture->point_count = error_series_points(&picture->series, picture->points);
    inverse_fit(picture->points, picture->point_count, &picture->fit);
    inverse_fit_judge(&picture->fit, picture->points, picture->point_count, &picture->judgement);
    return picture->fit.outcome == INVERSE_NO_MEMORY ? CAMP_E_NOMEM : CAMP_OK;
}

void error_picture_release(struct error_picture *picture)
{
    error_series_release(&picture->series);
    free(picture->points);
    *picture = (struct error_picture){ 0 };
}

static void describe_unfitted(const struct inverse_fit *fit, char *ret, size_t size)
{
    static const char *const reasons[] = {
        [INVERSE_TOO_FEW] = "fewer than 3 intervals with an error above 0",
        [INVERSE_ONE_LOAD] = "the load was the same in all intervals",
        [INVERSE_NO_STEP] = "no step of the fit keeps all fitted errors above 0",
        [INVERSE_NO_END] = "the fit did not converge in 25 iterations",
        [INVERSE_NO_MEMORY] = "out of memory",
    };

    snprintf(ret, size, "No curve could be fitted: %s.", reasons[fit->outcome]);
}

static void describe_verdict(const struct error_picture *picture, char *ret, size_t size)
{
    const struct inverse_judgement *judgement = &picture->judgement;
    const double explained = 100 * judgement->explained;

    switch (judgement->verdict) {
    case VERDICT_NOT_FITTED:
        describe_unfitted(&picture->fit, ret, size);
        break;
    case VERDICT_FEW:
        snprintf(ret, size, "Too few intervals to say whether one curve fits: %zu, it takes %d.",
                 picture->fit.used, VERDICT_POINTS);
        break;
    case VERDICT_FITS:
        snprintf(ret, size, "The inverse curve explains %.1f %% of the deviance.", explained);
        break;
    case VERDICT_ONE_LOAD:
        snprintf(ret, size,
                 "The load hardly varied (%.1f to %.1f %%): nothing can be said about a curve.",
                 judgement->least_load, judgement->most_load);
        break;
    case VERDICT_NO_RELATION:
        snprintf(ret, size,
                 "No single curve fits: the error does not depend on load (b may be 0: p = %.2g).",
                 picture->fit.b_probability);
        break;
    case VERDICT_RISES:
        snprintf(ret, size,
                 "No single curve fits: the error rises with load, by no inverse curve.");
        break;
    case VERDICT_CLUSTERS:
        snprintf(ret, size,
                 "No single curve fits: separate clusters, whose errors at one load differ by a "
                 "factor of %.1f.",
                 judgement->apart);
        break;
    case VERDICT_SCATTERED:
        snprintf(ret, size,
                 "No single curve fits: too scattered, it explains %.1f %% of the deviance only.",
                 explained);
        break;
    }
}

size_t error_sentences(const struct error_picture *picture,
                       char ret[ERROR_SENTENCES][ERROR_SENTENCE_SIZE])
{
    const struct inverse_fit *fit = &picture->fit;

    describe_verdict(picture, ret[0], ERROR_SENTENCE_SIZE);
    if (fit->outcome != INVERSE_FITTED)
        return 1;
    snprintf(ret[1], ERROR_SENTENCE_SIZE,
             "error = 1 / (a + b \xc3\x97 cpu), a = %.4g \xc2\xb1 %.2g, b = %.4g \xc2\xb1 %.2g "
             "(standard errors); Gamma, inverse link.",
             fit->a, fit->a_error, fit->b, fit->b_error);
    snprintf(ret[2], ERROR_SENTENCE_SIZE,
             "%zu intervals (%zu without an error above 0 left out), deviance %.4g of %.4g, "
             "dispersion %.3g.",
             fit->used, fit->left_out, fit->deviance, fit->null_deviance, fit->dispersion);
    return ERROR_SENTENCES;
}

static struct svg_look dot_look(void)
{
    return (struct svg_look){ .fill = palette_classes[CLASS_READY], .opacity = 0.75 };
}

/* The data to draw: every stride-th interval, with a NAN at each gap. */
struct drawn {
    /* [count] each, in one allocation, which free(seconds) frees. */
    double *seconds, *measured, *absolute;
    size_t count;
    size_t stride;
};

static bool follows(const struct error_interval *before, const struct error_interval *now)
{
    return (double)(now->end_ns - before->end_ns) <=
           GAP * (double)(now->length_ns > before->length_ns ? now->length_ns : before->length_ns);
}

static int draw(const struct error_series *series, struct drawn *ret)
{
    const size_t stride = (series->count + ERROR_DOTS - 1) / ERROR_DOTS;
    const size_t most = 2 * (series->count + 1);
    double *numbers = calloc(3 * most, sizeof *numbers);

    *ret =
        (struct drawn){ numbers, numbers + most, numbers + 2 * most, 0, stride > 0 ? stride : 1 };
    if (numbers == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < series->count; i++) {
        const struct error_interval *now = &series->intervals[i];

        if (i > 0 && !follows(now - 1, now)) {
            ret->seconds[ret->count] = (double)(now - 1)->end_ns / 1e9;
            ret->measured[ret->count] = ret->absolute[ret->count] = NAN;
            ret->count++;
        }
        if ((i + 1) % ret->stride != 0 && i + 1 < series->count)
            continue;
        ret->seconds[ret->count] = ((double)now->end_ns - (double)now->length_ns / 2) / 1e9;
        ret->measured[ret->count] = now->measured;
        ret->absolute[ret->count] = now->absolute;
        ret->count++;
    }
    return CAMP_OK;
}

/* Returns an axis from 0 to a round value above all values. If that would leave much of the axis
 * empty, because the largest value is only slightly above a round value, the axis ends just above
 * the largest value. */
static struct plot_axis axis_of(const char *title, const double *values, size_t count)
{
    struct plot_axis axis = { .title = title };
    double ticks[PLOT_TICKS_MAXIMUM];
    size_t tick_count;

    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]) && values[i] > axis.maximum)
            axis.maximum = values[i];
    }
    axis.maximum = axis.maximum > 0 ? ROOM * axis.maximum : 1;
    tick_count = plot_ticks(&axis, AXIS_TICKS, ticks);
    if (tick_count < 2 || axis.maximum > ROOM * ROOM * ticks[tick_count - 1])
        plot_widen(&axis);
    axis.minimum = 0;
    return axis;
}

static struct plot_axis time_axis(const struct error_series *series)
{
    const struct error_interval *first = series->intervals;
    struct plot_axis axis = { .kind = PLOT_TIME, .maximum = 1 };

    if (series->count == 0)
        return axis;
    axis.minimum = ((double)first->end_ns - (double)first->length_ns) / 1e9;
    axis.maximum = (double)first[series->count - 1].end_ns / 1e9;
    return axis;
}

static double note(FILE *stream, double at, const char *text)
{
    svg_text(stream, (struct svg_point){ 16, at }, SVG_START, SVG_NOTE, text);
    return at + LINE_HEIGHT;
}

static double note_source(FILE *stream, double at, const struct error_picture *picture)
{
    const struct error_series *series = &picture->series;
    char text[256], begin[MOMENT_SIZE], end[MOMENT_SIZE];
    int64_t begin_ns, end_ns;

    if (series->count == 0) {
        snprintf(text, sizeof text, "Source %.100s: 0 intervals.", picture->source);
        return note(stream, at, text);
    }
    begin_ns = series->intervals[0].end_ns - (int64_t)series->intervals[0].length_ns;
    end_ns = series->intervals[series->count - 1].end_ns;
    moment_text(begin, begin_ns, true);
    moment_text(end, end_ns, end_ns - begin_ns >= DAY_NS);
    snprintf(text, sizeof text, "Source %.48s, %s to %s (%.4g s): %zu %s.", picture->source, begin,
             end, (double)(end_ns - begin_ns) / 1e9, series->count,
             noun_of(series->count, "interval", "intervals"));
    return note(stream, at, text);
}

static double note_stride(FILE *stream, double at, const struct drawn *drawn)
{
    char text[80];

    if (drawn->stride == 1)
        return at;
    snprintf(text, sizeof text, "One interval in %zu is shown; the fit is of all.", drawn->stride);
    return note(stream, at, text);
}

/* Draws the title, the legend and the axes. */
static void start(const struct plot *plot, const struct error_picture *picture, const char *what,
                  double height, const struct plot_legend *legend, size_t legend_count)
{
    const size_t count = picture->series.count;
    char sentences[ERROR_SENTENCES][ERROR_SENTENCE_SIZE], title[192], description[512];

    error_sentences(picture, sentences);
    snprintf(title, sizeof title, "%s: %.140s", what, picture->source);
    snprintf(description, sizeof description, "%s of %s: %zu %s. %s", what, picture->source, count,
             noun_of(count, "interval", "intervals"), sentences[0]);
    svg_start(plot->stream, WIDTH, height, title, description);
    plot_legend(plot->stream, (struct svg_point){ SIDE, 50 }, WIDTH, legend, legend_count);
    plot_axes(plot);
}

static struct plot plot_of(FILE *stream, double right)
{
    return (struct plot){ .stream = stream,
                          .left = SIDE,
                          .top = TOP,
                          .width = WIDTH - SIDE - right,
                          .height = HEIGHT - TOP - PLOT_MARGIN_BELOW };
}

static const char measured_title[] = "measured CPU time, % of one CPU";
static const char error_title[] = "absolute error of sampled time, %";

int error_over_time(FILE *stream, const struct error_picture *picture)
{
    const struct plot_legend legend[] = {
        { "CPU time, measured (left)",
          PLOT_LINE,
          { .stroke = palette_classes[CLASS_CPU], .stroke_width = 1.5, .fill = "none" } },
        { "absolute error of what ticks sampled (right)", PLOT_DOT, dot_look() },
    };
    struct plot plot = plot_of(stream, SIDE);
    struct drawn drawn;
    int r = draw(&picture->series, &drawn);

    if (r != CAMP_OK)
        return r;
    plot.x = time_axis(&picture->series);
    plot.y = axis_of(measured_title, drawn.measured, drawn.count);
    plot.right = axis_of(error_title, drawn.absolute, drawn.count);
    start(&plot, picture, "CPU time and its error over time", HEIGHT + 3 * LINE_HEIGHT, legend, 2);
    plot_start(&plot, "error-over-time");
    r = plot_line(&plot, &plot.y, drawn.seconds, drawn.measured, drawn.count, &legend[0].look);
    plot_dots(&plot, &plot.right, drawn.seconds, drawn.absolute, drawn.count, RADIUS,
              &legend[1].look);
    plot_end(&plot);
    note_stride(stream, note_source(stream, HEIGHT + LINE_HEIGHT, picture), &drawn);
    svg_end(stream);
    free(drawn.seconds);
    return r;
}

/* The curve is drawn only for observed loads, because it is not a forecast. */
static int draw_curve(const struct plot *plot, const struct error_picture *picture,
                      const struct svg_look *look)
{
    double xs[CURVE_POINTS], ys[CURVE_POINTS];
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < picture->point_count; i++) {
        least = fmin(least, picture->points[i].cpu);
        most = fmax(most, picture->points[i].cpu);
    }
    for (size_t i = 0; i < CURVE_POINTS; i++) {
        xs[i] = least + (most - least) * (double)i / (CURVE_POINTS - 1);
        ys[i] = inverse_fit_at(&picture->fit, xs[i]);
    }
    return plot_line(plot, &plot->y, xs, ys, CURVE_POINTS, look);
}

static const char *word_for(enum inverse_verdict verdict)
{
    return verdict == VERDICT_NOT_FITTED ? "no curve could be fitted"
           : verdict == VERDICT_FEW      ? "too few intervals"
           : verdict == VERDICT_ONE_LOAD ? "the load hardly varied"
                                         : "no single curve fits";
}

int error_by_load(FILE *stream, const struct error_picture *picture)
{
    const struct plot_legend legend[] = {
        { "an interval", PLOT_DOT, dot_look() },
        { "the inverse curve",
          PLOT_LINE,
          { .stroke = "#24292e", .stroke_width = 2, .fill = "none" } },
    };
    const bool fits = picture->judgement.verdict == VERDICT_FITS;
    char sentences[ERROR_SENTENCES][ERROR_SENTENCE_SIZE];
    const size_t count = error_sentences(picture, sentences);
    struct plot plot = plot_of(stream, 24);
    struct drawn drawn;
    double below;
    int r = draw(&picture->series, &drawn);

    if (r != CAMP_OK)
        return r;
    plot.x = axis_of(measured_title, drawn.measured, drawn.count);
    plot.y = axis_of(error_title, drawn.absolute, drawn.count);
    start(&plot, picture, "Error by load", HEIGHT + (ERROR_SENTENCES + 3) * LINE_HEIGHT, legend,
          fits ? 2 : 1);
    plot_start(&plot, "error-by-load");
    plot_dots(&plot, &plot.y, drawn.measured, drawn.absolute, drawn.count, RADIUS, &legend[0].look);
    if (fits)
        r = draw_curve(&plot, picture, &legend[1].look);
    plot_end(&plot);
    if (!fits)
        svg_text(stream, (struct svg_point){ WIDTH - 24, TOP - 14 }, SVG_END, SVG_NAME,
                 word_for(picture->judgement.verdict));
    below = note_source(stream, HEIGHT + LINE_HEIGHT, picture);
    for (size_t i = 0; i < count; i++)
        below = note(stream, below, sentences[i]);
    note_stride(stream, below, &drawn);
    svg_end(stream);
    free(drawn.seconds);
    return r;
}
