/*
 * The barymap shows shares over time: a line for each entity, and a column for each interval. The
 * colour of a cell mixes the colours of the classes of its time in OKLab, with white for time in no
 * state. There is no cell where the entity was absent.
 *
 * If there are too many lines or columns to distinguish, neighbouring lines or columns are added
 * up.
 */
#include "palette.h"
#include "picture_parts.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 900.0
#define TOP 50.0
#define LEFT 150.0 /* space for names */
#define RIGHT 170.0
#define BELOW 32.0 /* space for times */
#define LINES_MOST 400
#define COLUMNS_MOST 600
#define LINES_NAMED 60
#define AREA_MOST 480.0
#define LINE_MOST 16.0
#define ABSENT_COLOUR "#e6e9ec"
#define NO_CELL UINT32_MAX

struct run {
    uint32_t colour; /* 0xrrggbb */
    uint32_t line;
    double x, width;
};

/* A line in one column: the mean of the entities that share the line. */
struct line_sum {
    double shares[CLASS_COUNT];
    double elapsed_s; /* 0 if no entity of the line was present */
};

struct map {
    const struct picture *picture;
    size_t lines, columns;
    size_t folded;              /* number of entities in each line */
    uint32_t *order;            /* [registry.count] entities in the order of their lines */
    uint32_t *line;             /* [registry.count] line of each entity */
    struct line_sum *line_sums; /* [lines] sums of the current column */
    uint32_t *colours;          /* [columns x lines], NO_CELL where no entity was present */
    struct run *runs;           /* [run_count] */
    size_t run_count;
    struct sums sums;
    double cell; /* height of a line, px */
    struct plot plot;
};

/* compare_numbers() uses this variable, because qsort() passes no context. */
static const struct registry *sorted_registry;

static int compare_numbers(const void *left, const void *right)
{
    const struct registry_entry *entities = sorted_registry->entities;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct entity *ours = &entities[a].entity, *theirs = &entities[b].entity;
    int order = 0;

    if (ours->pid != 0 || theirs->pid != 0)
        order = entity_compare_by_process(ours, theirs);
    else
        order = (ours->id > theirs->id) - (ours->id < theirs->id);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Gives each entity a line. The threads of a process have adjacent lines. */
static void order_lines(struct map *map)
{
    const struct registry *registry = &map->picture->timeline->registry;

    for (size_t i = 0; i < registry->count; i++)
        map->order[i] = (uint32_t)i;
    sorted_registry = registry;
    qsort(map->order, registry->count, sizeof *map->order, compare_numbers);
    map->folded = (registry->count + LINES_MOST - 1) / LINES_MOST;
    map->lines = (registry->count + map->folded - 1) / map->folded;
    for (size_t i = 0; i < registry->count; i++)
        map->line[map->order[i]] = (uint32_t)(i / map->folded);
}

/* Adds the composition of a row to the mean. */
static void add_row(struct line_sum *sum, const struct timeline *timeline, size_t row)
{
    const struct schema *schema = timeline->schema;
    const float *shares = timeline->shares + row * schema->state_count;
    double classes[CLASS_COUNT] = { 0 }, part;

    for (size_t i = 0; i < schema->state_count; i++)
        classes[schema->columns[i].class] += shares[i];
    sum->elapsed_s += timeline->elapsed_s[row];
    part = timeline->elapsed_s[row] / sum->elapsed_s;
    for (int i = 0; i < CLASS_COUNT; i++)
        sum->shares[i] += part * (classes[i] - sum->shares[i]);
}

static void add_frame(struct map *map, const struct timeline_frame *frame)
{
    const struct timeline *timeline = map->picture->timeline;
    struct active active;

    memset(map->line_sums, 0, map->lines * sizeof *map->line_sums);
    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        if (active_row(timeline, row, &active, &map->sums))
            add_row(&map->line_sums[map->line[timeline->entities[row]]], timeline, row);
    }
}

static void colour_frames(struct map *map)
{
    const struct timeline *timeline = map->picture->timeline;
    const struct oklab ground = oklab_of("#ffffff");
    struct oklab colours[CLASS_COUNT];

    for (size_t i = 0; i < CLASS_COUNT; i++)
        colours[i] = oklab_of(palette_classes[i]);
    for (size_t column = 0; column < map->columns; column++) {
        add_frame(map, &timeline->frames[column]);
        for (size_t line = 0; line < map->lines; line++) {
            const struct line_sum *sum = &map->line_sums[line];

            map->colours[column * map->lines + line] =
                sum->elapsed_s > 0 ? oklab_rgb(oklab_mix(colours, sum->shares, CLASS_COUNT, ground))
                                   : NO_CELL;
        }
    }
}

static double x_of(const struct map *map, int64_t wall_clock_ns)
{
    return plot_x(&map->plot, (double)wall_clock_ns / 1e9) - map->plot.left;
}

/* Returns the x at which a column ends. A column ends where the next column starts, unless there is
 * a gap of at least half an interval between the columns. */
static double end_of(const struct map *map, size_t column)
{
    const struct timeline_frame *frame = &map->picture->timeline->frames[column];
    const int64_t length = frame->end_ns - frame->begin_ns;

    if (column + 1 < map->columns && llabs(frame[1].begin_ns - frame->end_ns) < length / 2)
        return x_of(map, frame[1].begin_ns);
    return x_of(map, frame->end_ns);
}

static void find_runs(struct map *map, size_t line)
{
    struct run *run = NULL;

    for (size_t column = 0; column < map->columns; column++) {
        const uint32_t colour = map->colours[column * map->lines + line];
        const double begin = x_of(map, map->picture->timeline->frames[column].begin_ns);

        if (run != NULL && run->colour == colour && fabs(run->x + run->width - begin) < 0.01) {
            run->width = end_of(map, column) - run->x;
            continue;
        }
        run = NULL;
        if (colour == NO_CELL)
            continue;
        run = &map->runs[map->run_count++];
        *run = (struct run){ colour, (uint32_t)line, begin, end_of(map, column) - begin };
    }
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;

    if (a->colour != b->colour)
        return a->colour > b->colour ? 1 : -1;
    if (a->line != b->line)
        return a->line > b->line ? 1 : -1;
    return (a->x > b->x) - (a->x < b->x);
}

static void draw_cells(FILE *stream, struct map *map)
{
    uint32_t colour = NO_CELL;
    char text[COLOUR_SIZE];

    for (size_t line = 0; line < map->lines; line++)
        find_runs(map, line);
    qsort(map->runs, map->run_count, sizeof *map->runs, compare_runs);
    svg_cells(stream, (struct svg_point){ map->plot.left, map->plot.top }, map->cell);
    for (size_t i = 0; i < map->run_count; i++) {
        if (map->runs[i].colour != colour) {
            colour = map->runs[i].colour;
            colour_text(text, colour);
            svg_cells_colour(stream, text);
        }
        svg_cells_run(stream, map->runs[i].line, map->runs[i].x, map->runs[i].width);
    }
    svg_cells_end(stream);
}

static bool has_class(const struct schema *schema, enum column_class class)
{
    for (size_t i = 0; i < schema->state_count; i++) {
        if (schema->columns[i].class == class)
            return true;
    }
    return false;
}

static void draw_key_line(FILE *stream, double *y, const char *colour, const char *edge,
                          const char *text)
{
    const double left = WIDTH - RIGHT + 24;

    svg_rect(stream, left, *y - 10, 12, 12, &(struct svg_look){ .fill = colour, .stroke = edge });
    svg_text(stream, (struct svg_point){ left + 18, *y }, SVG_START, NULL, text);
    *y += 18;
}

static void draw_key(FILE *stream, const struct map *map)
{
    const struct schema *schema = map->picture->timeline->schema;
    double y = TOP + 12;

    svg_group(stream, "key");
    for (size_t i = 0; i <= ACTIVE_CLASSES; i++) {
        const enum column_class class = i < ACTIVE_CLASSES ? active_classes[i] : CLASS_IDLE;

        if (has_class(schema, class))
            draw_key_line(stream, &y, palette_classes[class], NULL, column_class_title(class));
    }
    draw_key_line(stream, &y, "#fff", LEFT_OUT_COLOUR, "in no state");
    draw_key_line(stream, &y, ABSENT_COLOUR, LEFT_OUT_COLOUR, "not there");
    svg_group_end(stream);
}

static void draw_names(FILE *stream, const struct map *map)
{
    const struct registry *registry = &map->picture->timeline->registry;
    const size_t fits = (size_t)fmax(1, ceil(11 / map->cell));
    char text[ENTITY_TEXT_SIZE], cut[ENTITY_TEXT_SIZE + 4];

    for (size_t line = 0; line < map->lines; line++) {
        const uint32_t entity = map->order[line * map->folded];
        const bool is_pinned = map->picture->pinned != NULL && map->picture->pinned[entity];
        size_t length;

        if (!is_pinned && (map->lines > LINES_NAMED || fits > 1) &&
            line % (fits > map->lines / 20 + 1 ? fits : map->lines / 20 + 1) != 0)
            continue;
        entity_text(text, &registry->entities[entity].entity);
        length = svg_text_fit(text, 11, LEFT - 24);
        snprintf(cut, sizeof cut, "%.*s%s", (int)length, text, text[length] != '\0' ? "..." : "");
        svg_text(stream, (struct svg_point){ LEFT - 6, TOP + map->cell * ((double)line + 0.5) + 4 },
                 SVG_END, SVG_TICK, cut);
    }
}

static struct caption caption_of(const struct map *map)
{
    struct caption caption = {
        .to = map->columns,
        .entities = map->picture->timeline->registry.count,
        .sums = &map->sums,
        .nouns = { "cell", "cells" },
        .missing = " (paler)",
        .over = "",
        .left_out = "",
    };
    char folded[80] = "";

    snprintf(caption.title, sizeof caption.title, "%.120s: time of each entity by class",
             map->picture->source);

    if (map->folded > 1)
        snprintf(folded, sizeof folded, "; a line is the mean of %zu neighbours", map->folded);
    snprintf(caption.remark, sizeof caption.remark, " in %zu lines, %zu columns%s.", map->lines,
             map->columns, folded);
    return caption;
}

static void release_map(struct map *map)
{
    free(map->order);
    free(map->line);
    free(map->line_sums);
    free(map->colours);
    free(map->runs);
}

static int prepare_map(struct map *map)
{
    const struct timeline *timeline = map->picture->timeline;
    const size_t count = timeline->registry.count + 1;

    map->columns = timeline->frame_count;
    map->order = calloc(count, sizeof *map->order);
    map->line = calloc(count, sizeof *map->line);
    map->line_sums = calloc(LINES_MOST + 1, sizeof *map->line_sums);
    if (map->order == NULL || map->line == NULL || map->line_sums == NULL)
        return CAMP_E_NOMEM;
    if (timeline->registry.count > 0)
        order_lines(map);
    map->colours = calloc(map->columns * map->lines + 1, sizeof *map->colours);
    map->runs = calloc(map->columns * map->lines + 1, sizeof *map->runs);
    return map->colours != NULL && map->runs != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

static void set_axes(struct map *map, FILE *stream)
{
    const struct timeline *timeline = map->picture->timeline;
    const double lines = map->lines > 0 ? (double)map->lines : 1;

    map->cell = fmin(LINE_MOST, AREA_MOST / lines);
    map->cell = floor(map->cell * 100) / 100;
    map->plot = (struct plot){
        .stream = stream,
        .left = LEFT,
        .top = TOP,
        .width = WIDTH - LEFT - RIGHT,
        .height = map->cell * lines,
        .x = { PLOT_TIME, NULL, (double)timeline->frames[0].begin_ns / 1e9,
               (double)timeline->frames[map->columns - 1].end_ns / 1e9 },
    };
}

static void draw_map(FILE *stream, struct map *map)
{
    svg_rect(stream, LEFT, TOP, map->plot.width, map->plot.height,
             &(struct svg_look){ .fill = ABSENT_COLOUR });
    plot_axes(&map->plot);
    /* The cells are drawn after the axes, so that the cells cover the grid. */
    draw_cells(stream, map);
    draw_names(stream, map);
    draw_key(stream, map);
}

int picture_barymap(FILE *stream, const struct picture *picture)
{
    struct map map = { .picture = picture };
    struct caption caption;
    int r;

    if (picture->timeline->frame_count > COLUMNS_MOST)
        timeline_merge(picture->timeline,
                       (picture->timeline->frame_count + COLUMNS_MOST - 1) / COLUMNS_MOST);
    r = prepare_map(&map);
    if (r == CAMP_OK) {
        set_axes(&map, stream);
        colour_frames(&map);
        caption = caption_of(&map);
        r = start_picture(stream, picture,
                          "A line for each entity, from left to right the time; the colour is what "
                          "its time went to.",
                          WIDTH, fmax(TOP + map.plot.height + BELOW, TOP + 240), &caption);
    }
    if (r == CAMP_OK) {
        draw_map(stream, &map);
        svg_end(stream);
    }
    release_map(&map);
    return r;
}
