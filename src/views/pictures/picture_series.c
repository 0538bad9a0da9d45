/*
 * Shares as a stack or as lines. The picture shows all entities together over time, weighted by
 * elapsed time, as in Figures 4(a) and 4(b) of "Barry007" (picture.h), or a stack for each entity
 * of one frame, as in Figure 7. The left vertex, which is usually idle time, is the highest vertex
 * of a stack.
 *
 * In a stack, an interval is a step from its start to its end. In lines, an interval is a point at
 * its middle. White space below 100 % is time in no state. If a stack is higher than 100 %, time
 * was accounted twice.
 */
#include "picture_parts.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 760.0
#define TOP 84.0
#define AREA_HEIGHT 320.0
#define LEGEND_AT 54.0
#define BAR_NAMED 11.0 /* smallest width of a bar that has a name, px */
#define NAMES_HEIGHT 110.0
#define TIMES_HEIGHT 32.0
/* A gap between intervals that is longer than this share of an interval breaks a series. */
#define GAP_SHARE 0.5
/* One layer for each vertex, and one for the time in states that belong to no vertex. */
#define LAYERS (VERTICES_MAXIMUM + 1)

/* A column of the picture: an interval or an entity. */
struct series_column {
    struct weights weights; /* shares[0] is NAN if there was no entity */
    double begin, end;      /* on the horizontal axis */
    uint32_t entity;        /* number of the entity, if the column is an entity */
};

struct series {
    const struct picture *picture;
    bool stacked, by_entity;
    struct series_column *columns; /* [count]; owned */
    size_t count;
    struct sums sums;
    struct plot plot;
};

/* Layers are counted from the bottom of the stack. The left vertex (1) is the highest vertex. */
static size_t vertex_of_layer(size_t layer, size_t vertices)
{
    return layer == 0 ? 0 : layer + 1 < vertices ? layer + 1 : 1;
}

static double layer_share(const struct weights *weights, size_t layer, size_t vertices)
{
    return layer < vertices ? weights->shares[vertex_of_layer(layer, vertices)] : weights->left_out;
}

static void add_frame(struct series *series, const struct timeline_frame *frame)
{
    const struct timeline *timeline = series->picture->timeline;
    const struct vertices *vertices = series->picture->vertices;
    struct weights sum = { 0 }, weights;
    double elapsed_s = 0;

    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        if (!timeline_weigh(timeline, row, vertices, &weights))
            continue;
        sums_add(&series->sums, &weights, vertices->count, timeline->elapsed_s[row]);
        weights_add(&sum, &elapsed_s, &weights, timeline->elapsed_s[row]);
    }
    if (!(elapsed_s > 0))
        sum.shares[0] = NAN;
    series->columns[series->count++] = (struct series_column){
        .weights = sum,
        .begin = (double)frame->begin_ns / 1e9,
        .end = (double)frame->end_ns / 1e9,
    };
}

static int collect_time(struct series *series)
{
    const struct timeline *timeline = series->picture->timeline;

    series->columns = calloc(timeline->frame_count + 1, sizeof *series->columns);
    if (series->columns == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < timeline->frame_count; i++)
        add_frame(series, &timeline->frames[i]);
    series->plot.x = (struct plot_axis){ PLOT_TIME, NULL, series->columns[0].begin,
                                         series->columns[series->count - 1].end };
    return CAMP_OK;
}

static int collect_entities(struct series *series)
{
    const struct timeline *timeline = series->picture->timeline;
    const struct vertices *vertices = series->picture->vertices;
    const struct timeline_frame *frame = &timeline->frames[series->picture->frame];

    series->columns = calloc(frame->count + 1, sizeof *series->columns);
    if (series->columns == NULL)
        return CAMP_E_NOMEM;
    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        struct series_column *column = &series->columns[series->count];

        if (!timeline_weigh(timeline, row, vertices, &column->weights))
            continue;
        sums_add(&series->sums, &column->weights, vertices->count, timeline->elapsed_s[row]);
        column->entity = timeline->entities[row];
        column->begin = (double)series->count + 0.5;
        column->end = (double)series->count + 1.5;
        series->count++;
    }
    series->plot.x = (struct plot_axis){ PLOT_LINEAR, "entity", 0.5,
                                         (double)(series->count > 0 ? series->count : 1) + 0.5 };
    return CAMP_OK;
}

/* Returns the upper end of the vertical axis in percent. */
static double highest(const struct series *series)
{
    const size_t vertices = series->picture->vertices->count;
    double most = 1;

    for (size_t i = 0; i < series->count; i++) {
        double sum = 0;

        for (size_t layer = 0; layer <= vertices; layer++)
            sum += layer_share(&series->columns[i].weights, layer, vertices);
        if (sum > most * 1.005) /* rounding errors must not change the scale */
            most = sum;
    }
    return most > 1 ? 20 * ceil(5 * most) : 100;
}

static void set_area(struct series *series, FILE *stream)
{
    series->plot.stream = stream;
    series->plot.left = PLOT_MARGIN_SIDE;
    series->plot.top = TOP;
    series->plot.width = WIDTH - PLOT_MARGIN_SIDE - 2 * MARGIN;
    series->plot.height = AREA_HEIGHT;
    series->plot.y = (struct plot_axis){ PLOT_LINEAR, "share of the time, %", 0, highest(series) };
}

static bool is_after_gap(const struct series_column *column)
{
    return column->begin - column[-1].end > GAP_SHARE * (column->end - column->begin);
}

/* Fills the lower and the upper line of a layer. Each column has two points, and each gap has a
 * NAN. Returns the number of points. */
static size_t fill_layer(const struct series *series, size_t layer, double *xs, double *lower,
                         double *upper)
{
    const size_t vertices = series->picture->vertices->count;
    size_t count = 0;

    for (size_t i = 0; i < series->count; i++) {
        const struct series_column *column = &series->columns[i];
        double below = 0;

        for (size_t under = 0; under < layer; under++)
            below += layer_share(&column->weights, under, vertices);
        if (i > 0 && is_after_gap(column)) {
            xs[count] = lower[count] = upper[count] = NAN;
            count++;
        }
        for (size_t side = 0; side < 2; side++, count++) {
            xs[count] = side == 0 ? column->begin : column->end;
            lower[count] = 100 * below;
            upper[count] = 100 * (below + layer_share(&column->weights, layer, vertices));
        }
    }
    return count;
}

/* Fills the line of a layer. Each column has a point at its middle, and each gap has a NAN. Returns
 * the number of points. */
static size_t fill_line(const struct series *series, size_t layer, double *xs, double *ys)
{
    const size_t vertices = series->picture->vertices->count;
    size_t count = 0;

    for (size_t i = 0; i < series->count; i++) {
        const struct series_column *column = &series->columns[i];

        if (i > 0 && is_after_gap(column)) {
            xs[count] = ys[count] = NAN;
            count++;
        }
        xs[count] = (column->begin + column->end) / 2;
        ys[count] = isnan(column->weights.shares[0])
                        ? NAN
                        : 100 * layer_share(&column->weights, layer, vertices);
        count++;
    }
    return count;
}

/* Returns the look of an area, or of a line that is `width` wide. */
static struct svg_look layer_look(const struct series *series, size_t layer, double width)
{
    const struct vertices *vertices = series->picture->vertices;
    const bool is_vertex = layer < vertices->count;
    const size_t vertex = is_vertex ? vertex_of_layer(layer, vertices->count) : 0;

    if (series->stacked)
        return area_look(is_vertex ? vertex_colour(vertices, vertex) : LEFT_OUT_COLOUR);
    return (struct svg_look){ .stroke = is_vertex ? vertex_line_colour(vertices, vertex)
                                                  : LEFT_OUT_COLOUR,
                              .stroke_width = width };
}

static int draw_layers(const struct series *series, size_t layers)
{
    const struct plot *plot = &series->plot;
    const size_t most = 3 * series->count + 1;
    double *numbers = calloc(3 * most, sizeof *numbers);
    int r = numbers != NULL ? CAMP_OK : CAMP_E_NOMEM;

    plot_start(plot, "area");
    for (size_t layer = 0; layer < layers && r == CAMP_OK; layer++) {
        struct svg_look look = layer_look(series, layer, 1.8);
        double *xs = numbers, *lower = numbers + most, *upper = numbers + 2 * most;

        look.class = "layer";
        if (series->stacked)
            r = plot_area(plot, &plot->y, xs, lower, upper,
                          fill_layer(series, layer, xs, lower, upper), &look);
        else
            r = plot_line(plot, &plot->y, xs, lower, fill_line(series, layer, xs, lower), &look);
    }
    plot_end(plot);
    free(numbers);
    return r;
}

static void draw_legend(const struct series *series, size_t layers)
{
    const struct vertices *vertices = series->picture->vertices;
    struct plot_legend entries[LAYERS] = { 0 };

    for (size_t layer = 0; layer < layers; layer++) {
        entries[layer].title = layer < vertices->count
                                   ? vertices->names[vertex_of_layer(layer, vertices->count)]
                                   : "left out";
        entries[layer].mark = series->stacked ? PLOT_AREA : PLOT_LINE;
        entries[layer].look = layer_look(series, layer, 2.5);
    }
    plot_legend(series->plot.stream, (struct svg_point){ PLOT_MARGIN_SIDE, LEGEND_AT },
                WIDTH - PLOT_MARGIN_SIDE - MARGIN, entries, layers);
}

static void draw_whole(const struct series *series)
{
    const double y = plot_y(&series->plot, &series->plot.y, 100);

    svg_line(series->plot.stream, (struct svg_point){ series->plot.left, y },
             (struct svg_point){ series->plot.left + series->plot.width, y },
             &(struct svg_look){ .class = "whole", .stroke = "#000", .stroke_width = 1.4 });
}

static bool has_names(const struct series *series)
{
    return series->by_entity && series->count > 0 &&
           series->plot.width / (double)series->count >= BAR_NAMED;
}

/* Draws the names below the bars, cut to NAMES_HEIGHT, and returns the height of the longest name.
 * If `stream` is NULL, the names are only measured. */
static double draw_names(FILE *stream, const struct series *series)
{
    const struct registry *registry = &series->picture->timeline->registry;
    const double y = series->plot.top + series->plot.height + 8;
    char text[ENTITY_TEXT_SIZE];
    double most = 0;

    for (size_t i = 0; i < series->count; i++) {
        entity_text(text, &registry->entities[series->columns[i].entity].entity);
        text[svg_text_fit(text, 11, NAMES_HEIGHT - 10)] = '\0';
        most = fmax(most, svg_text_width(text, 11));
        if (stream != NULL)
            svg_text_upwards(stream,
                             (struct svg_point){ plot_x(&series->plot, (double)i + 1) + 4, y },
                             SVG_END, SVG_TICK, text);
    }
    return most;
}

/* In a stack, the axes are drawn after the data, because the areas would hide the grid. */
static int draw_series(const struct series *series)
{
    const size_t layers = series->picture->vertices->count + (series->sums.worst_left_out > 0);
    int r;

    draw_legend(series, layers);
    if (!series->stacked)
        plot_axes(&series->plot);
    r = draw_layers(series, layers);
    if (series->stacked) {
        plot_axes(&series->plot);
        draw_whole(series);
    }
    if (has_names(series))
        draw_names(series->plot.stream, series);
    return r;
}

static struct caption caption_of(const struct series *series)
{
    const struct picture *picture = series->picture;
    const struct timeline *timeline = picture->timeline;
    struct caption caption = {
        .from = series->by_entity ? picture->frame : 0,
        .to = series->by_entity ? picture->frame + 1 : timeline->frame_count,
        .entities = series->by_entity ? series->count : timeline->registry.count,
        .remark = ", in the order of the source.",
        .sums = &series->sums,
        .nouns = { series->by_entity ? "entity" : "row", series->by_entity ? "entities" : "rows" },
        .missing = "",
        .over = "",
        .left_out = "",
    };

    if (!series->by_entity)
        snprintf(caption.remark, sizeof caption.remark,
                 " together; %.2f %% of all their time is in no state, %.2f %% was accounted "
                 "twice.",
                 100 * series->sums.mean.missing, 100 * series->sums.mean.over);
    return caption;
}

static int write_series(FILE *stream, struct series *series, const char *about)
{
    int r = series->by_entity ? collect_entities(series) : collect_time(series);
    double below = series->by_entity ? PLOT_MARGIN_BELOW : TIMES_HEIGHT;

    if (r == CAMP_OK) {
        const struct caption caption = caption_of(series);

        set_area(series, stream);
        if (has_names(series)) {
            series->plot.x.kind = PLOT_BARE;
            series->plot.x.title = NULL;
            below = 14 + draw_names(NULL, series);
        }
        r = start_picture(stream, series->picture, about, WIDTH, TOP + AREA_HEIGHT + below,
                          &caption);
    }
    if (r == CAMP_OK) {
        r = draw_series(series);
        svg_end(stream);
    }
    free(series->columns);
    return r;
}

int picture_stack(FILE *stream, const struct picture *picture)
{
    struct series series = { picture, .stacked = true, .by_entity = picture->over_entities };

    return write_series(stream, &series,
                        picture->over_entities
                            ? "A bar for each entity: its time by kind, one on the other."
                            : "The time of all entities by kind, one on the other, over time.");
}

int picture_lines(FILE *stream, const struct picture *picture)
{
    struct series series = { picture, .stacked = false };

    return write_series(stream, &series,
                        "The time of all entities by kind, a line each, over time.");
}
