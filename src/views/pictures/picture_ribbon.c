/*
 * The ribbon: how many entities were active at one time, by what they did, or by the value of a
 * label or by name. For each interval, the active time of all entities together is divided by the
 * length of the interval. The classes, or the largest groups and all others, are stacked; time in
 * no state is hatched, on top of them. A line shows the number of CPUs: where more threads are
 * active, some of them wait.
 */
#include "active_groups.h"
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
#define LEGEND_WIDTH (WIDTH - PLOT_MARGIN_SIDE - MARGIN)
#define GROUPS_MOST DOTS_GROUPS /* groups that have a layer */
/* The layers from below: classes or groups, then the other groups, then the time in no state. */
#define LAYERS_MOST (ACTIVE_CLASSES + 1)
#define LAYER_NAME_WIDTH 180.0
#define LAYER_TITLE_SIZE (ACTIVE_GROUP_NAME_SIZE + 24)
/* The line at the number of CPUs is left out if it would be this much higher than all else. */
#define CPUS_HIGHEST 4

_Static_assert(GROUPS_MOST + 2 <= LAYERS_MOST, "the groups, the others and the missing time fit");

struct layer {
    char name[ACTIVE_GROUP_NAME_SIZE];
    const char *colour;
    double seconds;
};

struct ribbon {
    const struct picture *picture;
    struct active_groups groups;   /* if the layers are groups */
    struct active_column *columns; /* [count]; owned */
    double (*times)[LAYERS_MOST];  /* [count] seconds of each layer in each column; owned */
    size_t count;
    struct layer layers[LAYERS_MOST];
    size_t layer_count; /* the last one is the time in no state */
    struct active sum;
    double length_s;
    double most;   /* highest number of active entities of a column, with unaccounted time */
    size_t parked; /* most parked entities of a frame */
    struct sums sums;
    struct plot plot;
    char axis_title[80];
};

static bool has_groups(const struct picture *picture)
{
    return picture->colour != PICTURE_COLOUR_USUAL;
}

static void add_layer(struct ribbon *ribbon, const char *name, const char *colour)
{
    struct layer *layer = &ribbon->layers[ribbon->layer_count++];

    snprintf(layer->name, sizeof layer->name, "%s", name);
    layer->colour = colour;
}

static size_t groups_shown(const struct ribbon *ribbon)
{
    return ribbon->groups.active < GROUPS_MOST ? ribbon->groups.active : GROUPS_MOST;
}

static void add_groups(struct ribbon *ribbon)
{
    const struct active_groups *groups = &ribbon->groups;
    const size_t shown = groups_shown(ribbon), others = groups->active - shown;
    char name[ACTIVE_GROUP_NAME_SIZE], cut[ACTIVE_GROUP_NAME_SIZE];

    for (size_t i = 0; i < shown; i++) {
        active_group_name(groups, &groups->groups[i], name);
        active_group_cut(name, LAYER_NAME_WIDTH, cut, sizeof cut);
        add_layer(ribbon, cut, palette_groups[i]);
    }
    snprintf(name, sizeof name, "%zu %s", others, others == 1 ? "other" : "others");
    add_layer(ribbon, name, PALETTE_OTHERS);
}

/* Finds the layers, which have no time yet. */
static int find_layers(struct ribbon *ribbon)
{
    const int r = has_groups(ribbon->picture)
                      ? active_groups_find(&ribbon->groups, ribbon->picture, false)
                      : CAMP_OK;

    if (r != CAMP_OK)
        return r;
    if (has_groups(ribbon->picture))
        add_groups(ribbon);
    for (size_t i = 0; !has_groups(ribbon->picture) && i < ACTIVE_CLASSES; i++)
        add_layer(ribbon, column_class_title(active_classes[i]),
                  palette_classes[active_classes[i]]);
    add_layer(ribbon, "unaccounted", SVG_HATCHED);
    return CAMP_OK;
}

static void add_row(struct ribbon *ribbon, double *times, uint32_t entity,
                    const struct active *active)
{
    if (has_groups(ribbon->picture)) {
        const size_t group = ribbon->groups.group_of[entity], shown = groups_shown(ribbon);

        times[group < shown ? group : shown] += active->sum_s;
    } else {
        for (size_t i = 0; i < ACTIVE_CLASSES; i++)
            times[i] += active->seconds[active_classes[i]];
    }
    times[ribbon->layer_count - 1] += active->missing_s;
}

static void add_frame(struct ribbon *ribbon, size_t index)
{
    const struct timeline *timeline = ribbon->picture->timeline;
    const struct timeline_frame *frame = &timeline->frames[index];
    double *times = ribbon->times[active_column_of(timeline, index, ribbon->count)];
    size_t parked = 0;

    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        struct active active;

        if (!active_row(timeline, row, &active, &ribbon->sums))
            continue;
        add_row(ribbon, times, timeline->entities[row], &active);
        active_add(&ribbon->sum, &active);
        parked += active.is_parked;
    }
    if (parked > ribbon->parked)
        ribbon->parked = parked;
}

static int collect(struct ribbon *ribbon)
{
    const struct timeline *timeline = ribbon->picture->timeline;
    int r = find_layers(ribbon);

    ribbon->columns = calloc(ACTIVE_COLUMNS_MOST, sizeof *ribbon->columns);
    ribbon->times = calloc(ACTIVE_COLUMNS_MOST, sizeof *ribbon->times);
    if (r != CAMP_OK || ribbon->columns == NULL || ribbon->times == NULL)
        return CAMP_E_NOMEM;
    ribbon->count = active_columns(timeline, ACTIVE_COLUMNS_MOST, ribbon->columns);
    for (size_t i = 0; i < timeline->frame_count; i++)
        add_frame(ribbon, i);
    for (size_t i = 0; i < ribbon->count; i++) {
        double whole = 0;

        for (size_t layer = 0; layer < ribbon->layer_count; layer++) {
            ribbon->layers[layer].seconds += ribbon->times[i][layer];
            whole += ribbon->times[i][layer];
        }
        ribbon->length_s += ribbon->columns[i].length_s;
        ribbon->most = fmax(ribbon->most, whole / ribbon->columns[i].length_s);
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
            below += ribbon->times[i][under];
        if (i > 0 && active_is_after_gap(column)) {
            xs[count] = lower[count] = upper[count] = NAN;
            count++;
        }
        for (size_t side = 0; side < 2; side++, count++) {
            xs[count] = side == 0 ? column->begin : column->end;
            lower[count] = below / column->length_s;
            upper[count] = (below + ribbon->times[i][layer]) / column->length_s;
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
    for (size_t layer = 0; layer < ribbon->layer_count && r == CAMP_OK; layer++) {
        const struct svg_look look = { .class = "layer", .fill = ribbon->layers[layer].colour };

        if (ribbon->layers[layer].seconds > 0)
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

/* Writes the entries of the legend: the layers that have time, with their active time divided by
 * the length of the picture. Returns the number of entries. */
static size_t legend_of(const struct ribbon *ribbon, struct plot_legend ret[LAYERS_MOST],
                        char ret_titles[LAYERS_MOST][LAYER_TITLE_SIZE])
{
    size_t count = 0;

    for (size_t i = 0; i < ribbon->layer_count; i++) {
        const struct layer *layer = &ribbon->layers[i];

        if (!(layer->seconds > 0))
            continue;
        snprintf(ret_titles[count], LAYER_TITLE_SIZE, "%s %.2f", layer->name,
                 layer->seconds / ribbon->length_s);
        ret[count] = (struct plot_legend){ .title = ret_titles[count], .mark = PLOT_AREA };
        ret[count++].look.fill = layer->colour;
    }
    return count;
}

static struct caption caption_of(const struct ribbon *ribbon)
{
    const struct picture *picture = ribbon->picture;
    struct caption caption = {
        .to = picture->timeline->frame_count,
        .entities = picture->timeline->registry.count - picture->repeated,
        .sums = &ribbon->sums,
        .nouns = { "row", "rows" },
        .missing = " (hatched)",
        .over = "",
        .left_out = "",
    };
    char parked[60] = "", cpus[50] = "";

    snprintf(caption.title, sizeof caption.title, "Active %.60s%s%.60s", picture->kind,
             has_groups(picture) ? " by " : "",
             has_groups(picture) ? active_groups_by(&ribbon->groups) : "");
    if (ribbon->parked > 0)
        snprintf(parked, sizeof parked, "; up to %zu parked in a lock, not active", ribbon->parked);
    if (picture->cpus > 0 && !shows_cpus(ribbon))
        snprintf(cpus, sizeof cpus, "; %zu CPUs, above the picture", picture->cpus);
    snprintf(caption.remark, sizeof caption.remark, ", %.2f active at one time%s%s.",
             ribbon->sum.sum_s / ribbon->length_s, parked, cpus);
    return caption;
}

static int draw_ribbon(FILE *stream, struct ribbon *ribbon, const struct plot_legend *legend,
                       size_t entries)
{
    int r;

    svg_hatch(stream, PALETTE_MISSING);
    if (entries > 0)
        plot_legend(stream, (struct svg_point){ PLOT_MARGIN_SIDE, LEGEND_AT }, LEGEND_WIDTH, legend,
                    entries);
    r = draw_layers(ribbon);
    /* The axes are drawn after the areas, which would hide the grid. */
    plot_axes(&ribbon->plot);
    if (shows_cpus(ribbon))
        draw_cpus(ribbon);
    return r;
}

static int write_ribbon(FILE *stream, struct ribbon *ribbon)
{
    char titles[LAYERS_MOST][LAYER_TITLE_SIZE], about[200];
    struct plot_legend legend[LAYERS_MOST];
    const size_t entries = legend_of(ribbon, legend, titles);
    const size_t rows = plot_legend_rows(LEGEND_WIDTH, legend, entries);
    const double top = LEGEND_AT + LEGEND_ROW * (double)(rows > 2 ? rows : 2);
    const struct caption caption = caption_of(ribbon);
    int r;

    snprintf(about, sizeof about,
             "How many were active at one time, by %.60s, over time. Idle time is left out.",
             has_groups(ribbon->picture) ? active_groups_by(&ribbon->groups) : "what they did");
    set_area(ribbon, stream, top);
    r = start_picture(stream, ribbon->picture, about, WIDTH, top + AREA_HEIGHT + PLOT_MARGIN_BELOW,
                      &caption);
    if (r != CAMP_OK)
        return r;
    r = draw_ribbon(stream, ribbon, legend, entries);
    svg_end(stream);
    return r;
}

int picture_ribbon(FILE *stream, const struct picture *picture)
{
    struct ribbon ribbon = { .picture = picture };
    int r = collect(&ribbon);

    if (r == CAMP_OK)
        r = write_ribbon(stream, &ribbon);
    active_groups_release(&ribbon.groups);
    free(ribbon.columns);
    free(ribbon.times);
    return r;
}
