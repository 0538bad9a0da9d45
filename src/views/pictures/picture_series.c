/*
 * Shares as a stack or as lines: over time, of all entities together (weighted by elapsed time), as
 * in Figures 4(a) and 4(b) of the paper; or in one frame, of each entity, as in Figure 7. On top of
 * a stack is the left vertex, which is usually idle.
 *
 * An interval is a step from its start to its end in a stack, and a point in its middle on a line.
 * White up to 100 % is time in no state; above 100 % time was accounted twice.
 */
#include "picture_parts.h"
#include "plot.h"
#include "views/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 760.0
#define TOP 84.0
#define AREA_HEIGHT 320.0
#define LEGEND_AT 54.0
#define BAR_NAMED 11.0 /* width of a bar that gets a name, px */
#define NAMES_HEIGHT 110.0
#define TIMES_HEIGHT 32.0
#define GAP_SHARE 0.5                 /* of an interval: a longer gap breaks the series */
#define LAYERS (VERTICES_MAXIMUM + 1) /* the vertices, and the left out time */

struct series {
    size_t count;            /* of columns: intervals, or entities */
    struct weights *weights; /* [count]; shares NAN: no entity */
    double *begins, *ends;   /* [count] of the horizontal axis */
    uint32_t *entities;      /* [count] numbers, of a picture of entities */
    struct sums sums;        /* of all rows */
    struct plot plot;
};

/* Bottom up: the left vertex is last. */
static size_t vertex_of_layer(size_t layer, size_t vertices)
{
    return layer == 0 ? 0 : layer + 1 < vertices ? layer + 1 : 1;
}

static double layer_share(const struct weights *weights, size_t layer, size_t vertices)
{
    return layer < vertices ? weights->shares[vertex_of_layer(layer, vertices)] : weights->left_out;
}

/* ------------------------------------------------------------------------------------ Numbers --
 */

static void release_series(struct series *series)
{
    free(series->weights);
    free(series->begins);
    free(series->ends);
    free(series->entities);
}

static int reserve_series(struct series *series, size_t count)
{
    *series = (struct series){
        .weights = calloc(count + 1, sizeof *series->weights),
        .begins = calloc(count + 1, sizeof *series->begins),
        .ends = calloc(count + 1, sizeof *series->ends),
        .entities = calloc(count + 1, sizeof *series->entities),
    };
    return series->weights != NULL && series->begins != NULL && series->ends != NULL &&
                   series->entities != NULL
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

static void add_frame(struct series *series, const struct picture *picture,
                      const struct timeline_frame *frame)
{
    const struct timeline *timeline = picture->timeline;
    struct weights sum = { 0 }, weights;
    double elapsed_s = 0;

    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        if (!timeline_weigh(timeline, row, picture->vertices, &weights))
            continue;
        sums_add(&series->sums, &weights, picture->vertices->count, timeline->elapsed_s[row]);
        weights_add(&sum, &elapsed_s, &weights, timeline->elapsed_s[row]);
    }
    if (!(elapsed_s > 0))
        sum.shares[0] = NAN;
    series->weights[series->count] = sum;
    series->begins[series->count] = (double)frame->begin_ns / 1e9;
    series->ends[series->count] = (double)frame->end_ns / 1e9;
    series->count++;
}

static int collect_time(struct series *series, const struct picture *picture)
{
    const struct timeline *timeline = picture->timeline;

    if (reserve_series(series, timeline->frame_count) != CAMP_OK)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < timeline->frame_count; i++)
        add_frame(series, picture, &timeline->frames[i]);
    series->plot.x =
        (struct plot_axis){ PLOT_TIME, NULL, series->begins[0], series->ends[series->count - 1] };
    return CAMP_OK;
}

static int collect_entities(struct series *series, const struct picture *picture)
{
    const struct timeline *timeline = picture->timeline;
    const struct timeline_frame *frame = &timeline->frames[picture->frame];

    if (reserve_series(series, frame->count) != CAMP_OK)
        return CAMP_E_NOMEM;
    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        if (!timeline_weigh(timeline, row, picture->vertices, &series->weights[series->count]))
            continue;
        sums_add(&series->sums, &series->weights[series->count], picture->vertices->count,
                 timeline->elapsed_s[row]);
        series->entities[series->count] = timeline->entities[row];
        series->begins[series->count] = (double)series->count + 0.5;
        series->ends[series->count] = (double)series->count + 1.5;
        series->count++;
    }
    series->plot.x = (struct plot_axis){ PLOT_LINEAR, "entity", 0.5,
                                         (double)(series->count > 0 ? series->count : 1) + 0.5 };
    return CAMP_OK;
}

/* The upper end of the axis, in percent. */
static double highest(const struct series *series, size_t vertices)
{
    double most = 1;

    for (size_t i = 0; i < series->count; i++) {
        double sum = 0;

        for (size_t layer = 0; layer <= vertices; layer++)
            sum += layer_share(&series->weights[i], layer, vertices);
        if (sum > most * 1.005) /* rounding must not change the scale */
            most = sum;
    }
    return most > 1 ? 20 * ceil(5 * most) : 100;
}

static void set_axes(struct series *series, const struct picture *picture, FILE *stream)
{
    series->plot.stream = stream;
    series->plot.left = PLOT_MARGIN_SIDE;
    series->plot.top = TOP;
    series->plot.width = WIDTH - PLOT_MARGIN_SIDE - 2 * MARGIN;
    series->plot.height = AREA_HEIGHT;
    series->plot.y = (struct plot_axis){ PLOT_LINEAR, "share of the time, %", 0,
                                         highest(series, picture->vertices->count) };
}

/* ------------------------------------------------------------------------------------ Drawing --
 */

static bool is_after_gap(const struct series *series, size_t column)
{
    return series->begins[column] - series->ends[column - 1] >
           GAP_SHARE * (series->ends[column] - series->begins[column]);
}

/* The limits of a layer: two points a column, and NAN after a gap. Returns the number of points. */
static size_t fill_layer(const struct series *series, size_t layer, size_t vertices, double *xs,
                         double *lower, double *upper)
{
    size_t count = 0;

    for (size_t i = 0; i < series->count; i++) {
        double below = 0;

        for (size_t under = 0; under < layer; under++)
            below += layer_share(&series->weights[i], under, vertices);
        if (i > 0 && is_after_gap(series, i)) {
            xs[count] = lower[count] = upper[count] = NAN;
            count++;
        }
        for (size_t side = 0; side < 2; side++, count++) {
            xs[count] = side == 0 ? series->begins[i] : series->ends[i];
            lower[count] = 100 * below;
            upper[count] = 100 * (below + layer_share(&series->weights[i], layer, vertices));
        }
    }
    return count;
}

/* Points in the middle of each column, for a line. */
static size_t fill_line(const struct series *series, size_t layer, size_t vertices, double *xs,
                        double *ys)
{
    size_t count = 0;

    for (size_t i = 0; i < series->count; i++) {
        if (i > 0 && is_after_gap(series, i)) {
            xs[count] = ys[count] = NAN;
            count++;
        }
        xs[count] = (series->begins[i] + series->ends[i]) / 2;
        ys[count] = isnan(series->weights[i].shares[0])
                        ? NAN
                        : 100 * layer_share(&series->weights[i], layer, vertices);
        count++;
    }
    return count;
}

static const char *layer_colour(size_t layer, size_t vertices)
{
    return layer < vertices ? vertex_colour(vertices, vertex_of_layer(layer, vertices))
                            : LEFT_OUT_COLOUR;
}

static int draw_layers(const struct series *series, size_t layers, size_t vertices, bool stacked)
{
    const size_t most = 3 * series->count + 1;
    double *xs = calloc(3 * most, sizeof *xs);
    int r = xs != NULL ? CAMP_OK : CAMP_E_NOMEM;

    for (size_t layer = 0; layer < layers && r == CAMP_OK; layer++) {
        const char *colour = layer_colour(layer, vertices);

        if (stacked)
            r = plot_area(&series->plot, &series->plot.y, xs, xs + most, xs + 2 * most,
                          fill_layer(series, layer, vertices, xs, xs + most, xs + 2 * most),
                          &(struct svg_look){ .class = "layer", .fill = colour });
        else
            r = plot_line(
                &series->plot, &series->plot.y, xs, xs + most,
                fill_line(series, layer, vertices, xs, xs + most),
                &(struct svg_look){ .class = "layer", .stroke = colour, .stroke_width = 1.8 });
    }
    free(xs);
    return r;
}

static void draw_legend(FILE *stream, const struct vertices *vertices, size_t layers, bool stacked)
{
    struct plot_legend entries[LAYERS] = { 0 };

    for (size_t layer = 0; layer < layers; layer++) {
        const char *colour = layer_colour(layer, vertices->count);

        entries[layer].title = layer < vertices->count
                                   ? vertices->names[vertex_of_layer(layer, vertices->count)]
                                   : "left out";
        entries[layer].mark = stacked ? PLOT_AREA : PLOT_LINE;
        entries[layer].look = (struct svg_look){ .fill = stacked ? colour : NULL,
                                                 .stroke = stacked ? NULL : colour,
                                                 .stroke_width = stacked ? 0 : 2.5 };
    }
    plot_legend(stream, (struct svg_point){ PLOT_MARGIN_SIDE, LEGEND_AT },
                WIDTH - PLOT_MARGIN_SIDE - MARGIN, entries, layers);
}

/* The line at 100 %, where the axis continues above it. */
static void draw_whole(const struct series *series)
{
    const double y = plot_y(&series->plot, &series->plot.y, 100);

    svg_line(series->plot.stream, (struct svg_point){ series->plot.left, y },
             (struct svg_point){ series->plot.left + series->plot.width, y },
             &(struct svg_look){ .class = "whole", .stroke = "#000", .stroke_width = 1.4 });
}

static bool has_names(const struct series *series)
{
    return series->count > 0 && series->plot.width / (double)series->count >= BAR_NAMED;
}

/* Names below the bars, as far as space permits. stream NULL: only measures. Returns their height.
 */
static double draw_names(FILE *stream, const struct series *series, const struct picture *picture)
{
    const double y = series->plot.top + series->plot.height + 8;
    char text[ENTITY_TEXT_SIZE];
    double most = 0;

    for (size_t i = 0; i < series->count; i++) {
        entity_text(text, &picture->timeline->registry.entities[series->entities[i]].entity);
        text[svg_text_fit(text, 11, NAMES_HEIGHT - 10)] = '\0';
        most = fmax(most, svg_text_width(text, 11));
        if (stream != NULL)
            svg_text_upwards(stream,
                             (struct svg_point){ plot_x(&series->plot, (double)i + 1) + 4, y },
                             SVG_END, SVG_TICK, text);
    }
    return most;
}

/* ------------------------------------------------------------------------------------ Picture --
 */

static char *caption_of(const struct series *series, const struct picture *picture, bool by_entity)
{
    const size_t from = by_entity ? picture->frame : 0;
    const size_t to = by_entity ? picture->frame + 1 : picture->timeline->frame_count;
    char *text = NULL;
    size_t length;
    FILE *caption = open_memstream(&text, &length);

    if (caption == NULL)
        return NULL;
    caption_source(caption, picture, from, to,
                   by_entity ? series->count : picture->timeline->registry.count);
    if (by_entity)
        fputs(", in the order of the source.\n", caption);
    else
        fprintf(
            caption,
            " together; %.2f %% of all their time is in no state, %.2f %% was accounted twice.\n",
            100 * series->sums.mean.missing, 100 * series->sums.mean.over);
    caption_sums(caption, picture, &series->sums,
                 by_entity ? entity_nouns : (const char *const[]){ "row", "rows" },
                 &(struct marks){ "", "", "" });
    caption_losses(caption, picture, from, to);
    if (fclose(caption) == 0)
        return text;
    free(text);
    return NULL;
}

static int draw_series(FILE *stream, const struct picture *picture, struct series *series,
                       bool stacked, bool by_entity)
{
    const struct vertices *vertices = picture->vertices;
    const size_t layers = vertices->count + (series->sums.worst_left_out > 0);
    int r;

    draw_legend(stream, vertices, layers, stacked);
    if (stacked) { /* the grid is behind the areas, where it would be invisible */
        plot_start(&series->plot, "area");
        r = draw_layers(series, layers, vertices->count, stacked);
        plot_end(&series->plot);
        plot_axes(&series->plot);
    } else {
        plot_axes(&series->plot);
        plot_start(&series->plot, "area");
        r = draw_layers(series, layers, vertices->count, stacked);
        plot_end(&series->plot);
    }
    if (stacked)
        draw_whole(series);
    if (by_entity && has_names(series))
        draw_names(stream, series, picture);
    return r;
}

static int write_series(FILE *stream, const struct picture *picture, bool stacked, bool by_entity,
                        const char *about)
{
    struct series series = { 0 };
    char *caption = NULL;
    int r = by_entity ? collect_entities(&series, picture) : collect_time(&series, picture);
    double below = by_entity ? PLOT_MARGIN_BELOW : TIMES_HEIGHT;

    if (r == CAMP_OK) {
        set_axes(&series, picture, stream);
        caption = caption_of(&series, picture, by_entity);
        r = caption != NULL ? CAMP_OK : CAMP_E_NOMEM;
    }
    if (r == CAMP_OK && by_entity && has_names(&series)) {
        series.plot.x =
            (struct plot_axis){ PLOT_BARE, NULL, series.plot.x.minimum, series.plot.x.maximum };
        below = 14 + draw_names(NULL, &series, picture);
    }
    if (r == CAMP_OK) {
        start_picture(stream, picture, about, WIDTH, TOP + AREA_HEIGHT + below, caption);
        r = draw_series(stream, picture, &series, stacked, by_entity);
        svg_end(stream);
    }
    free(caption);
    release_series(&series);
    return r;
}

int picture_stack(FILE *stream, const struct picture *picture)
{
    return write_series(stream, picture, true, picture->over_entities,
                        picture->over_entities
                            ? "A bar for each entity: its time by kind, one on the other."
                            : "The time of all entities by kind, one on the other, over time.");
}

int picture_lines(FILE *stream, const struct picture *picture)
{
    return write_series(stream, picture, false, false,
                        "The time of all entities by kind, a line each, over time.");
}
