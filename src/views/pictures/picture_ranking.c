/*
 * The ranking: the groups with the most active time, over all of the time. A group is a process,
 * for threads; the entities with the same value of a label; or those whose names differ only in the
 * number at the end. Each row has the group's name and its number of members, how many of its
 * members were active at one time, this number by class on a scale that all rows share, and its
 * course over time, each on its own scale.
 */
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
/* Groups with less active time, relative to all the time, count as idle. */
#define IDLE_SHARE 1e-6

struct group {
    uint32_t entity; /* number of an entity of the group in the registry; of a process its main
                        thread */
    size_t members;
    struct active sum;
    size_t rank; /* index in the order of the ranking */
};

struct ranking {
    const struct picture *picture;
    bool by_process;
    struct group *groups; /* [count], in the order of the ranking after rank_groups(); owned */
    size_t count;
    uint32_t *group_of;                /* [registry.count] index in groups; owned */
    size_t shown, active;              /* groups that have a row, and groups that are not idle */
    double (*courses)[COURSE_COLUMNS]; /* [shown] active seconds of each column; owned */
    struct active_column columns[COURSE_COLUMNS];
    size_t column_count;
    struct active sum;
    double length_s;
    double most; /* the longest bar, seconds */
    size_t parked;
    struct sums sums;
};

static const struct entity *entity_of(const struct ranking *ranking, uint32_t number)
{
    return &ranking->picture->timeline->registry.entities[number].entity;
}

static int colour_of(const struct picture *picture)
{
    return picture->colour >= 0 ? picture->colour : PICTURE_COLOUR_NAME;
}

/* compare_entities() uses this variable, because qsort() passes no context. */
static const struct ranking *sorted;

/* Compares the groups to which two entities belong. */
static int compare_keys(const struct entity *a, const struct entity *b)
{
    const int colour = colour_of(sorted->picture);
    size_t ours, theirs;
    const char *our_name = group_name_of(a, colour, &ours),
               *their_name = group_name_of(b, colour, &theirs);
    int order = 0;

    if (sorted->by_process && a->pid != b->pid)
        return a->pid > b->pid ? 1 : -1;
    if (sorted->by_process && a->pid > 0)
        return 0;
    order = memcmp(our_name, their_name, ours < theirs ? ours : theirs);
    return order != 0 ? order : (ours > theirs) - (ours < theirs);
}

static int compare_entities(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = compare_keys(entity_of(sorted, a), entity_of(sorted, b));

    return order != 0 ? order : (a > b) - (a < b);
}

/* The largest first; groups of the same size are in the order of the source. */
static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    const int order = (a->sum.sum_s < b->sum.sum_s) - (a->sum.sum_s > b->sum.sum_s);

    return order != 0 ? order : (a->entity > b->entity) - (a->entity < b->entity);
}

static int find_groups(struct ranking *ranking)
{
    const struct registry *registry = &ranking->picture->timeline->registry;
    uint32_t *order = calloc(registry->count + 1, sizeof *order);

    ranking->groups = calloc(registry->count + 1, sizeof *ranking->groups);
    ranking->group_of = calloc(registry->count + 1, sizeof *ranking->group_of);
    if (order == NULL || ranking->groups == NULL || ranking->group_of == NULL) {
        free(order);
        return CAMP_E_NOMEM;
    }
    for (size_t i = 0; i < registry->count; i++)
        order[i] = (uint32_t)i;
    sorted = ranking;
    qsort(order, registry->count, sizeof *order, compare_entities);
    for (size_t i = 0; i < registry->count; i++) {
        const struct entity *entity = entity_of(ranking, order[i]);
        struct group *group = &ranking->groups[ranking->count];

        if (i > 0 && compare_keys(entity_of(ranking, order[i - 1]), entity) == 0)
            group--;
        else
            ranking->count++;
        if (group->members++ == 0 || entity->id == entity->pid)
            group->entity = order[i];
        ranking->group_of[order[i]] = (uint32_t)(group - ranking->groups);
    }
    sorted = NULL;
    free(order);
    return CAMP_OK;
}

static void add_frame(struct ranking *ranking, const struct timeline_frame *frame)
{
    const struct timeline *timeline = ranking->picture->timeline;
    size_t parked = 0;

    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        struct active active;

        if (!active_row(timeline, row, &active, &ranking->sums))
            continue;
        active_add(&ranking->groups[ranking->group_of[timeline->entities[row]]].sum, &active);
        active_add(&ranking->sum, &active);
        parked += active.is_parked;
    }
    if (parked > ranking->parked)
        ranking->parked = parked;
    ranking->length_s += fmax((double)(frame->end_ns - frame->begin_ns) / 1e9, 1e-9);
}

/* Sorts the groups. ranking->group_of becomes the rank of an entity's group. */
static int rank_groups(struct ranking *ranking)
{
    const size_t entities = ranking->picture->timeline->registry.count;
    uint32_t *ranks = calloc(ranking->count + 1, sizeof *ranks);

    if (ranks == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < ranking->count; i++)
        ranking->groups[i].rank = i;
    qsort(ranking->groups, ranking->count, sizeof *ranking->groups, compare_groups);
    for (size_t i = 0; i < ranking->count; i++) {
        const struct active *sum = &ranking->groups[i].sum;

        ranks[ranking->groups[i].rank] = (uint32_t)i;
        ranking->active += sum->sum_s > IDLE_SHARE * ranking->length_s;
    }
    for (size_t i = 0; i < entities; i++)
        ranking->group_of[i] = ranks[ranking->group_of[i]];
    free(ranks);
    ranking->shown = ranking->active < ROWS_MOST ? ranking->active : ROWS_MOST;
    for (size_t i = 0; i < ranking->shown; i++)
        ranking->most =
            fmax(ranking->most, ranking->groups[i].sum.sum_s + ranking->groups[i].sum.missing_s);
    return CAMP_OK;
}

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
            const uint32_t rank = ranking->group_of[timeline->entities[row]];

            if (rank < ranking->shown && active_row(timeline, row, &active, &ignored))
                ranking->courses[rank][column] += active.sum_s;
        }
    }
    return CAMP_OK;
}

static int collect(struct ranking *ranking)
{
    const struct timeline *timeline = ranking->picture->timeline;
    int r = find_groups(ranking);

    for (size_t i = 0; r == CAMP_OK && i < timeline->frame_count; i++)
        add_frame(ranking, &timeline->frames[i]);
    if (r == CAMP_OK)
        r = rank_groups(ranking);
    return r == CAMP_OK ? find_courses(ranking) : r;
}

/* Writes the name of a group. */
static void name_group(const struct ranking *ranking, const struct group *group,
                       char ret[ENTITY_TEXT_SIZE + LABELS_VALUE_SIZE])
{
    const size_t size = ENTITY_TEXT_SIZE + LABELS_VALUE_SIZE;
    const struct entity *entity = entity_of(ranking, group->entity);
    const int colour = colour_of(ranking->picture);
    size_t length;
    const char *name = group_name_of(entity, colour, &length);

    if (ranking->by_process && entity->pid > 0)
        snprintf(ret, size, "%s %d", entity->name, (int)entity->pid);
    else if (group->members == 1 && colour < 0)
        entity_text(ret, entity);
    else if (length > 0)
        snprintf(ret, size, "%.*s", (int)length, name);
    else
        snprintf(ret, size, "%s", colour >= 0 ? "(none)" : "(no name)");
}

static void draw_name(FILE *stream, const struct ranking *ranking, const struct group *group,
                      double y)
{
    char name[ENTITY_TEXT_SIZE + LABELS_VALUE_SIZE], members[32] = "", text[sizeof name + 40];
    double room = NAME_WIDTH;
    size_t length;

    name_group(ranking, group, name);
    if (group->members > 1)
        snprintf(members, sizeof members, " (%zu)", group->members);
    room -= svg_text_width(members, 12);
    length = strlen(name);
    if (svg_text_width(name, 12) > room)
        length = svg_text_fit(name, 12, room - svg_text_width("...", 12));
    snprintf(text, sizeof text, "%.*s%s%s", (int)length, name, name[length] != '\0' ? "..." : "",
             members);
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

    snprintf(scale, sizeof scale, "0 to %.2f", ranking->most / ranking->length_s);
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

    for (size_t i = ranking->shown; i < ranking->count; i++)
        rest += ranking->groups[i].sum.sum_s;
    if (ranking->active > ranking->shown) {
        snprintf(text, sizeof text, "%zu more", ranking->active - ranking->shown);
        svg_text(stream, (struct svg_point){ MARGIN, y }, SVG_START, SVG_TICK, text);
        draw_number(stream, rest, ranking->length_s, y);
        y += ROW;
    }
    if (ranking->count > ranking->active) {
        snprintf(text, sizeof text, "%zu idle", ranking->count - ranking->active);
        svg_text(stream, (struct svg_point){ MARGIN, y }, SVG_START, SVG_TICK, text);
    }
}

static double rows_height(const struct ranking *ranking)
{
    return ROW * (double)(1 + ranking->shown + (ranking->active > ranking->shown) +
                          (ranking->count > ranking->active));
}

static void draw_rows(FILE *stream, const struct ranking *ranking, double top)
{
    svg_hatch(stream, PALETTE_MISSING);
    active_legend(stream, (struct svg_point){ MARGIN, LEGEND_AT }, WIDTH - 2 * MARGIN,
                  &ranking->sum, ranking->length_s);
    draw_head(stream, ranking, top);
    svg_group(stream, "ranking");
    for (size_t i = 0; i < ranking->shown; i++) {
        const struct group *group = &ranking->groups[i];
        const double y = top + ROW * (double)(i + 1);

        draw_name(stream, ranking, group, y);
        draw_number(stream, group->sum.sum_s, ranking->length_s, y);
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
        .sums = &ranking->sums,
        .nouns = { "row", "rows" },
        .missing = " (hatched)",
        .over = "",
        .left_out = "",
    };
    const char *by = picture->colour >= 0  ? picture->timeline->schema->label_names[picture->colour]
                     : ranking->by_process ? "process"
                                           : "name";
    char parked[60] = "";

    snprintf(caption.title, sizeof caption.title, "Active %.60s by %.60s", picture->kind, by);
    if (ranking->parked > 0)
        snprintf(parked, sizeof parked, "; up to %zu parked in a lock, not active",
                 ranking->parked);
    snprintf(caption.remark, sizeof caption.remark, " in %zu %s, %.2f active at one time%s.",
             ranking->count, ranking->count == 1 ? "group" : "groups",
             ranking->sum.sum_s / ranking->length_s, parked);
    return caption;
}

int picture_ranking(FILE *stream, const struct picture *picture)
{
    struct ranking ranking = {
        .picture = picture,
        .by_process =
            picture->colour == PICTURE_COLOUR_USUAL && strcmp(picture->kind, "threads") == 0,
    };
    const double top = LEGEND_AT + 2 * LEGEND_ROW + 4;
    int r = collect(&ranking);

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
    free(ranking.groups);
    free(ranking.group_of);
    free(ranking.courses);
    return r;
}
