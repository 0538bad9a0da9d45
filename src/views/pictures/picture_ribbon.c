/*
 * The ribbon: how many entities were active at one time, by what they did. For each interval, the
 * active time of all entities together is divided by the length of the interval. The classes are
 * stacked; time in no state is hatched, on top of them. A line shows the number of CPUs: where more
 * threads are active, some of them wait.
 */
#include "palette.h"
#include "picture_parts.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDTH 760.0
#define LEGEND_AT 54.0
#define AREA_HEIGHT 300.0
#define LEGEND_ROW 18.0
#define LAYERS (ACTIVE_CLASSES + 1)
#define LAYER_MISSING ACTIVE_CLASSES
/* The line at the number of CPUs is left out if it would be this much higher than all else. */
#define CPUS_HIGHEST 4

struct ribbon {
    const struct picture *picture;
    struct active_column *columns; /* [count]; owned */
    struct active *times;          /* [count] active time of each column; owned */
    size_t count;
    struct active sum;
    double length_s;
    double most;   /* highest number of active entities of a column, with unaccounted time */
    size_t parked; /* most parked entities of a frame */
    struct sums sums;
    struct plot plot;
    char axis_title[80];
};

static double layer_seconds(const struct active *active, size_t layer)
{
    return layer == LAYER_MISSING ? active->missing_s : active->seconds[active_classes[layer]];
}

static void add_frame(struct ribbon *ribbon, size_t index)
{
    const struct timeline *timeline = ribbon->picture->timeline;
    const struct timeline_frame *frame = &timeline->frames[index];
    struct active *sum = &ribbon->times[active_column_of(timeline, index, ribbon->count)];
    size_t parked = 0;

    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        struct active active;

        if (!active_row(timeline, row, &active, &ribbon->sums))
            continue;
        active_add(sum, &active);
        active_add(&ribbon->sum, &active);
        parked += active.is_parked;
    }
    if (parked > ribbon->parked)
        ribbon->parked = parked;
}

static int collect(struct ribbon *ribbon)
{
    const struct timeline *timeline = ribbon->picture->timeline;

    ribbon->columns = calloc(ACTIVE_COLUMNS_MOST, sizeof *ribbon->columns);
    ribbon->times = calloc(ACTIVE_COLUMNS_MOST, sizeof *ribbon->times);
    if (ribbon->columns == NULL || ribbon->times == NULL)
        return CAMP_E_NOMEM;
    ribbon->count = active_columns(timeline, ACTIVE_COLUMNS_MOST, ribbon->columns);
    for (size_t i = 0; i < timeline->frame_count; i++)
        add_frame(ribbon, i);
    for (size_t i = 0; i < ribbon->count; i++) {
        const struct active *active = &ribbon->times[i];

        ribbon->length_s += ribbon->columns[i].length_s;
        ribbon->most =
            fmax(ribbon->most, (active->sum_s + active->missing_s) / ribbon->columns[i].length_s);
    }
    return CAMP_OK;
}

static bool shows_cpus(const struct ribbon *ribbon)
{
    return ribbon->picture->cpus > 0 &&
           (double)ribbon->picture->cpus <= CPUS_HIGHEST * fmax(ribbon->most, 0.5);
}

/* Writes the title of the time axis: the day on which the picture starts, and the time zone. */
static void write_axis_title(struct ribbon *ribbon)
{
    const time_t begin = (time_t)ribbon->columns[0].begin;
    struct tm broken;

    snprintf(ribbon->axis_title, sizeof ribbon->axis_title, "local time");
    if (localtime_r(&begin, &broken) != NULL)
        strftime(ribbon->axis_title, sizeof ribbon->axis_title, "%Y-%m-%d, local time (%Z)",
                 &broken);
}

static void set_area(struct ribbon *ribbon, FILE *stream, double top)
{
    struct plot *plot = &ribbon->plot;
    const double cpus = shows_cpus(ribbon) ? 1.05 * (double)ribbon->picture->cpus : 0;

    write_axis_title(ribbon);
    *plot = (struct plot){
        .stream = stream,
        .left = PLOT_MARGIN_SIDE,
        .top = top,
        .width = WIDTH - PLOT_MARGIN_SIDE - 2 * MARGIN,
        .height = AREA_HEIGHT,
        .x = { PLOT_TIME, ribbon->axis_title, ribbon->columns[0].begin,
               ribbon->columns[ribbon->count - 1].end },
        .y = { PLOT_LINEAR, "active at one time", 0, fmax(0.1, fmax(ribbon->most, cpus)) },
    };
    plot_widen(&plot->y);
}

/* Fills the lower and the upper line of a layer. Each column has two points, and each gap has a
 * NAN. Returns the number of points. */
static size_t fill_layer(const struct ribbon *ribbon, size_t layer, double *xs, double *lower,
                         double *upper)
{
    size_t count = 0;

    for (size_t i = 0; i < ribbon->count; i++) {
        const struct active_column *column = &ribbon->columns[i];
        double below = 0;

        for (size_t under = 0; under < layer; under++)
            below += layer_seconds(&ribbon->times[i], under);
        if (i > 0 && active_is_after_gap(column)) {
            xs[count] = lower[count] = upper[count] = NAN;
            count++;
        }
        for (size_t side = 0; side < 2; side++, count++) {
            xs[count] = side == 0 ? column->begin : column->end;
            lower[count] = below / column->length_s;
            upper[count] = (below + layer_seconds(&ribbon->times[i], layer)) / column->length_s;
        }
    }
    return count;
}

static int draw_layers(const struct ribbon *ribbon)
{
    const struct plot *plot = &ribbon->plot;
    const size_t most = 3 * ribbon->count + 1;
    double *numbers = calloc(3 * most, sizeof *numbers);
    double *xs = numbers, *lower = numbers + most, *upper = numbers + 2 * most;
    int r = numbers != NULL ? CAMP_OK : CAMP_E_NOMEM;

    plot_start(plot, "area");
    for (size_t layer = 0; layer < LAYERS && r == CAMP_OK; layer++) {
        const struct svg_look look = {
            .class = "layer",
            .fill = layer == LAYER_MISSING ? SVG_HATCHED : palette_classes[active_classes[layer]],
        };

        if (layer_seconds(&ribbon->sum, layer) > 0)
            r = plot_area(plot, &plot->y, xs, lower, upper,
                          fill_layer(ribbon, layer, xs, lower, upper), &look);
    }
    plot_end(plot);
    free(numbers);
    return r;
}

static void draw_cpus(const struct ribbon *ribbon)
{
    const struct plot *plot = &ribbon->plot;
    const size_t cpus = ribbon->picture->cpus;
    const double y = plot_y(plot, &plot->y, (double)cpus), right = plot->left + plot->width;
    char text[40];

    svg_line(plot->stream, (struct svg_point){ plot->left, y }, (struct svg_point){ right, y },
             &(struct svg_look){
                 .class = "cpus", .stroke = "#000", .stroke_width = 1.4, .dashes = "6 3" });
    snprintf(text, sizeof text, "%zu CPU%s", cpus, cpus == 1 ? "" : "s");
    svg_text(plot->stream, (struct svg_point){ right - 6, y - 4 }, SVG_END, SVG_LABEL, text);
}

static struct caption caption_of(const struct ribbon *ribbon)
{
    const struct picture *picture = ribbon->picture;
    struct caption caption = {
        .to = picture->timeline->frame_count,
        .entities = picture->timeline->registry.count,
        .sums = &ribbon->sums,
        .nouns = { "row", "rows" },
        .missing = " (hatched)",
        .over = "",
        .left_out = "",
    };
    char parked[60] = "", cpus[50] = "";

    snprintf(caption.title, sizeof caption.title, "Active %.100s", picture->kind);
    if (ribbon->parked > 0)
        snprintf(parked, sizeof parked, "; up to %zu parked in a lock, not active", ribbon->parked);
    if (picture->cpus > 0 && !shows_cpus(ribbon))
        snprintf(cpus, sizeof cpus, "; %zu CPUs, above the picture", picture->cpus);
    snprintf(caption.remark, sizeof caption.remark, ", %.2f active at one time%s%s.",
             ribbon->sum.sum_s / ribbon->length_s, parked, cpus);
    return caption;
}

static int draw_ribbon(FILE *stream, struct ribbon *ribbon)
{
    const struct svg_point at = { PLOT_MARGIN_SIDE, LEGEND_AT };
    int r;

    svg_hatch(stream, PALETTE_MISSING);
    active_legend(stream, at, WIDTH - PLOT_MARGIN_SIDE - MARGIN, &ribbon->sum, ribbon->length_s);
    r = draw_layers(ribbon);
    /* The axes are drawn after the areas, which would hide the grid. */
    plot_axes(&ribbon->plot);
    if (shows_cpus(ribbon))
        draw_cpus(ribbon);
    return r;
}

int picture_ribbon(FILE *stream, const struct picture *picture)
{
    const double top = LEGEND_AT + 2 * LEGEND_ROW;
    struct ribbon ribbon = { .picture = picture };
    int r = collect(&ribbon);

    if (r == CAMP_OK) {
        const struct caption caption = caption_of(&ribbon);

        set_area(&ribbon, stream, top);
        r = start_picture(stream, picture,
                          "How many were active at one time, by what they did, over time. Idle "
                          "time is left out.",
                          WIDTH, top + AREA_HEIGHT + PLOT_MARGIN_BELOW, &caption);
    }
    if (r == CAMP_OK) {
        r = draw_ribbon(stream, &ribbon);
        svg_end(stream);
    }
    free(ribbon.columns);
    free(ribbon.times);
    return r;
}
