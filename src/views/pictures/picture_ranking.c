/*
 * The ranking: the groups with the most active time, over all of the time. A group is a process,
 * for threads; the entities with the same value of a label; or those whose names differ only in the
 * number at the end. Each row has the group's name and its number of members, how many of its
 * members were active at one time, this number by class on a scale that all rows share, and its
 * course over time, each on its own scale.
 */
#include "active_groups.h"
#include "palette.h"
#include "picture_parts.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 760.0
#define LEGEND_AT 54.0
#define LEGEND_ROW 18.0
#define ROWS_MOST 20
#define ROW 22.0
#define BAR_HEIGHT 14.0
#define NAME_WIDTH 212.0
#define NUMBER_AT 290.0 /* right end of the numbers */
#define BAR_AT 302.0
#define BAR_WIDTH 270.0
#define COURSE_AT 590.0
#define COURSE_WIDTH (WIDTH - MARGIN - COURSE_AT)
#define COURSE_COLUMNS 60

struct ranking {
    const struct picture *picture;
    struct active_groups all;
    size_t shown;                      /* groups that have a row */
    double (*courses)[COURSE_COLUMNS]; /* [shown] active seconds of each column; owned */
    struct active_column columns[COURSE_COLUMNS];
    size_t column_count;
    double most; /* the longest bar, seconds */
};

static int find_courses(struct ranking *ranking)
{
    const struct timeline *timeline = ranking->picture->timeline;
    struct sums ignored = { 0 };
    struct active active;

    ranking->courses = calloc(ROWS_MOST, sizeof *ranking->courses);
    if (ranking->courses == NULL)
        return CAMP_E_NOMEM;
    ranking->column_count = active_columns(timeline, COURSE_COLUMNS, ranking->columns);
    for (size_t i = 0; i < timeline->frame_count; i++) {
        const size_t column = active_column_of(timeline, i, ranking->column_count);

        for (size_t j = 0; j < timeline->frames[i].count; j++) {
            const size_t row = timeline->frames[i].first + j;
            const uint32_t rank = ranking->all.group_of[timeline->entities[row]];

            if (rank < ranking->shown && active_row(timeline, row, &active, &ignored))
                ranking->courses[rank][column] += active.sum_s;
        }
    }
    return CAMP_OK;
}

static int collect(struct ranking *ranking, bool by_process)
{
    const int r = active_groups_find(&ranking->all, ranking->picture, by_process);
    const struct active_groups *all = &ranking->all;

    if (r != CAMP_OK)
        return r;
    ranking->shown = all->active < ROWS_MOST ? all->active : ROWS_MOST;
    for (size_t i = 0; i < ranking->shown; i++)
        ranking->most =
            fmax(ranking->most, all->groups[i].sum.sum_s + all->groups[i].sum.missing_s);
    return find_courses(ranking);
}

static void draw_name(FILE *stream, const struct ranking *ranking, const struct active_group *group,
                      double y)
{
    char name[ACTIVE_GROUP_NAME_SIZE], cut[sizeof name + 4], members[32] = "";
    char text[sizeof cut + sizeof members];

    active_group_name(&ranking->all, group, name);
    if (group->members > 1)
        snprintf(members, sizeof members, " (%zu)", group->members);
    active_group_cut(name, NAME_WIDTH - svg_text_width(members, 12), cut, sizeof cut);
    snprintf(text, sizeof text, "%s%s", cut, members);
    svg_text(stream, (struct svg_point){ MARGIN, y }, SVG_START, NULL, text);
}

static void draw_bar(FILE *stream, const struct ranking *ranking, const struct active *sum,
                     double y)
{
    double x = BAR_AT;

    for (size_t i = 0; i <= ACTIVE_CLASSES; i++) {
        const bool is_missing = i == ACTIVE_CLASSES;
        const double seconds = is_missing ? sum->missing_s : sum->seconds[active_classes[i]];
        const double width = BAR_WIDTH * seconds / ranking->most;

        if (width < 0.01)
            continue;
        svg_rect(stream, x, y - BAR_HEIGHT + 3, width, BAR_HEIGHT,
                 &(struct svg_look){ .class = "part",
                                     .fill = is_missing ? SVG_HATCHED
                                                        : palette_classes[active_classes[i]] });
        x += width;
    }
}

/* Draws a part of a course, without a gap in time: a line, or a dot for a single column. */
static void draw_stretch(FILE *stream, const struct svg_point *points, size_t count,
                         const struct svg_look *look)
{
    if (count > 1)
        svg_polyline(stream, points, count, look);
    else if (count == 1)
        svg_circle(stream, points[0], 1.5, &(struct svg_look){ .fill = look->stroke }, NULL);
}

/* Draws the course of a group over time; a gap in time interrupts it. */
static void draw_course(FILE *stream, const struct ranking *ranking, const double *course, double y)
{
    const struct active_column *columns = ranking->columns;
    const double begin = columns[0].begin, end = columns[ranking->column_count - 1].end;
    const struct svg_look look = {
        .class = "course", .stroke = "#24292e", .stroke_width = 1.2, .fill = "none"
    };
    struct svg_point points[COURSE_COLUMNS];
    double most = 0;
    size_t count = 0;

    for (size_t i = 0; i < ranking->column_count; i++)
        most = fmax(most, course[i] / columns[i].length_s);
    for (size_t i = 0; i < ranking->column_count; i++) {
        const double middle = (columns[i].begin + columns[i].end) / 2;

        if (count > 0 && active_is_after_gap(&columns[i])) {
            draw_stretch(stream, points, count, &look);
            count = 0;
        }
        points[count++] = (struct svg_point){
            COURSE_AT + COURSE_WIDTH * (middle - begin) / (end - begin),
            y + 3 - BAR_HEIGHT * course[i] / columns[i].length_s / most,
        };
    }
    draw_stretch(stream, points, count, &look);
}

static void draw_number(FILE *stream, double seconds, double length_s, double y)
{
    char text[32];

    snprintf(text, sizeof text, "%.2f", seconds / length_s);
    svg_text(stream, (struct svg_point){ NUMBER_AT, y }, SVG_END, NULL, text);
}

static void draw_head(FILE *stream, const struct ranking *ranking, double y)
{
    char scale[60];

    snprintf(scale, sizeof scale, "0 to %.2f", ranking->most / ranking->all.length_s);
    svg_text(stream, (struct svg_point){ MARGIN, y }, SVG_START, SVG_TICK, "name (members)");
    svg_text(stream, (struct svg_point){ NUMBER_AT, y }, SVG_END, SVG_TICK, "active");
    svg_text(stream, (struct svg_point){ BAR_AT, y }, SVG_START, SVG_TICK,
             ranking->shown > 0 ? scale : "");
    svg_text(stream, (struct svg_point){ COURSE_AT, y }, SVG_START, SVG_TICK,
             "over time, own scale");
}

/* Draws the last row: the groups that have no row of their own. */
static void draw_rest(FILE *stream, const struct ranking *ranking, double y)
{
    char text[80];
    double rest = 0;

    for (size_t i = ranking->shown; i < ranking->all.count; i++)
        rest += ranking->all.groups[i].sum.sum_s;
    if (ranking->all.active > ranking->shown) {
        snprintf(text, sizeof text, "%zu more", ranking->all.active - ranking->shown);
        svg_text(stream, (struct svg_point){ MARGIN, y }, SVG_START, SVG_TICK, text);
        draw_number(stream, rest, ranking->all.length_s, y);
        y += ROW;
    }
    if (ranking->all.count > ranking->all.active) {
        snprintf(text, sizeof text, "%zu idle", ranking->all.count - ranking->all.active);
        svg_text(stream, (struct svg_point){ MARGIN, y }, SVG_START, SVG_TICK, text);
    }
}

static double rows_height(const struct ranking *ranking)
{
    return ROW * (double)(1 + ranking->shown + (ranking->all.active > ranking->shown) +
                          (ranking->all.count > ranking->all.active));
}

static void draw_rows(FILE *stream, const struct ranking *ranking, double top)
{
    svg_hatch(stream, PALETTE_MISSING);
    active_legend(stream, (struct svg_point){ MARGIN, LEGEND_AT }, WIDTH - 2 * MARGIN,
                  &ranking->all.sum, ranking->all.length_s);
    draw_head(stream, ranking, top);
    svg_group(stream, "ranking");
    for (size_t i = 0; i < ranking->shown; i++) {
        const struct active_group *group = &ranking->all.groups[i];
        const double y = top + ROW * (double)(i + 1);

        draw_name(stream, ranking, group, y);
        draw_number(stream, group->sum.sum_s, ranking->all.length_s, y);
        draw_bar(stream, ranking, &group->sum, y);
        draw_course(stream, ranking, ranking->courses[i], y);
    }
    svg_group_end(stream);
    draw_rest(stream, ranking, top + ROW * (double)(ranking->shown + 1));
}

static struct caption caption_of(const struct ranking *ranking)
{
    const struct picture *picture = ranking->picture;
    struct caption caption = {
        .to = picture->timeline->frame_count,
        .entities = picture->timeline->registry.count,
        .sums = &ranking->all.sums,
        .nouns = { "row", "rows" },
        .missing = " (hatched)",
        .over = "",
        .left_out = "",
    };
    char parked[60] = "";

    snprintf(caption.title, sizeof caption.title, "Active %.60s by %.60s", picture->kind,
             active_groups_by(&ranking->all));
    if (ranking->all.parked > 0)
        snprintf(parked, sizeof parked, "; up to %zu parked in a lock, not active",
                 ranking->all.parked);
    snprintf(caption.remark, sizeof caption.remark, " in %zu %s, %.2f active at one time%s.",
             ranking->all.count, ranking->all.count == 1 ? "group" : "groups",
             ranking->all.sum.sum_s / ranking->all.length_s, parked);
    return caption;
}

int picture_ranking(FILE *stream, const struct picture *picture)
{
    const bool by_process =
        picture->colour == PICTURE_COLOUR_USUAL && strcmp(picture->kind, "threads") == 0;
    struct ranking ranking = { .picture = picture };
    const double top = LEGEND_AT + 2 * LEGEND_ROW + 4;
    int r = collect(&ranking, by_process);

    if (r == CAMP_OK) {
        const struct caption caption = caption_of(&ranking);

        r = start_picture(stream, picture,
                          "The groups with the most active time: how many of a group were active "
                          "at one time, and by what they did.",
                          WIDTH, top + rows_height(&ranking), &caption);
    }
    if (r == CAMP_OK) {
        draw_rows(stream, &ranking, top);
        svg_end(stream);
    }
    active_groups_release(&ranking.all);
    free(ranking.courses);
    return r;
}
