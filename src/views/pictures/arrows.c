#include "arrows.h"

#include "palette.h"
#include "picture_parts.h"
#include "views/memory_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH DOTS_WIDTH
#define HEIGHT (TRIANGLE_TOP + TRIANGLE_HEIGHT + 60)
#define RADIUS 4.5
#define HEAD 9.0      /* length of the head of an arrow, px */
#define SHORTEST 12.0 /* a shorter arrow has no head, px */
#define NAMES_MOST 12
#define NAME_HEIGHT 11.0
#define TAKEN_MOST (TRIANGLE_TEXTS + NAMES_MOST)
#define OTHERS "#9aa3ad"
#define ABOUT                                                                                      \
    "A triangle with an arrow for each entity, from its place in the first recording to that in "  \
    "the second."

struct places {
    struct svg_point at[2];
    bool has[2];
};

static struct places places_of(const struct arrow *arrow)
{
    struct places ret = { .has = { false, false } };

    for (int i = 0; i < 2; i++) {
        struct position position;

        ret.has[i] = arrow->has[i] && weights_position(&arrow->weights[i], 3, &position);
        if (ret.has[i])
            ret.at[i] = triangle_point(&position);
    }
    return ret;
}

static size_t count_in(const struct arrows_picture *picture, bool first, bool second)
{
    size_t count = 0;

    for (size_t i = 0; i < picture->count; i++) {
        const struct places places = places_of(&picture->arrows[i]);

        count += places.has[0] == first && places.has[1] == second;
    }
    return count;
}

static void draw_head(FILE *stream, struct svg_point from, struct svg_point to, const char *colour)
{
    const double length = hypot(to.x - from.x, to.y - from.y);
    const double x = (to.x - from.x) / length * HEAD, y = (to.y - from.y) / length * HEAD;

    svg_polygon(stream,
                (struct svg_point[]){ to,
                                      { to.x - x - 0.45 * y, to.y - y + 0.45 * x },
                                      { to.x - x + 0.45 * y, to.y - y - 0.45 * x } },
                3, &(struct svg_look){ .fill = colour });
}

static void put_share(FILE *stream, const struct arrows_picture *picture, const struct arrow *arrow,
                      int side)
{
    fprintf(stream, "; %s: ", side == 0 ? "A" : "B");
    if (!arrow->has[side])
        fputs("absent", stream);
    for (size_t i = 0; arrow->has[side] && i < 3; i++)
        fprintf(stream, "%s%s %.1f %%", i > 0 ? ", " : "", picture->vertices->names[i],
                100 * arrow->weights[side].shares[i]);
}

/* Returns the tooltip of an arrow, which the caller frees, or NULL. */
static char *title_of(const struct arrows_picture *picture, const struct arrow *arrow)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return NULL;
    fputs(arrow->name, text.stream);
    put_share(text.stream, picture, arrow, 0);
    put_share(text.stream, picture, arrow, 1);
    if (memory_text_close(&text))
        return text.text;
    free(text.text);
    return NULL;
}

static int draw_arrow(FILE *stream, const struct arrows_picture *picture, const struct arrow *arrow)
{
    const char *colour = arrow->is_notable ? palette_groups[0] : OTHERS;
    const struct places places = places_of(arrow);
    const struct svg_point from = places.at[0], to = places.at[1];
    const struct svg_look line = { .stroke = colour, .stroke_width = arrow->is_notable ? 2 : 1.2 };
    const struct svg_look circle = { .fill = "#fff", .stroke = colour, .stroke_width = 1.5 };
    char *title = title_of(picture, arrow);

    if (title == NULL)
        return CAMP_E_NOMEM;
    if (places.has[0] && places.has[1]) {
        svg_line(stream, from, to, &line);
        if (hypot(to.x - from.x, to.y - from.y) >= SHORTEST)
            draw_head(stream, from, to, colour);
    }
    if (places.has[0])
        svg_circle(stream, from, RADIUS - 1, &circle, title);
    if (places.has[1] && (!places.has[0] || hypot(to.x - from.x, to.y - from.y) < SHORTEST))
        svg_circle(stream, to, RADIUS, &(struct svg_look){ .class = SVG_DOT, .fill = colour },
                   title);
    free(title);
    return CAMP_OK;
}

static bool overlaps(const struct box *box, const struct box *taken, size_t count)
{
    if (box->left < 2 || box->right > WIDTH - 2)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (box->left < taken[i].right && taken[i].left < box->right &&
            box->top < taken[i].bottom && taken[i].top < box->bottom)
            return true;
    }
    return false;
}

/* Writes a name beside the end of an arrow: at the right, the left, below or above. Where it would
 * hide another text it is left out: the tooltip has it. */
static void put_name(FILE *stream, const char *name, struct svg_point at, struct box *taken,
                     size_t *count)
{
    const double width = svg_text_width(name, NAME_HEIGHT), gap = RADIUS + 4;
    const struct svg_point starts[] = { { at.x + gap, at.y + 4 },
                                        { at.x - gap - width, at.y + 4 },
                                        { at.x - width / 2, at.y + gap + 8 },
                                        { at.x - width / 2, at.y - gap } };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        const struct box box = { starts[i].x, starts[i].y - NAME_HEIGHT, starts[i].x + width,
                                 starts[i].y + 3 };

        if (overlaps(&box, taken, *count))
            continue;
        svg_text(stream, starts[i], SVG_START, SVG_LABEL, name);
        taken[(*count)++] = box;
        return;
    }
}

static void put_names(FILE *stream, const struct arrows_picture *picture,
                      struct box taken[TAKEN_MOST], size_t count)
{
    svg_group(stream, "labels");
    for (size_t i = 0; i < picture->count && count < TAKEN_MOST; i++) {
        const struct places places = places_of(&picture->arrows[i]);

        if (picture->arrows[i].is_notable && (places.has[0] || places.has[1]))
            put_name(stream, picture->arrows[i].name, places.at[places.has[1]], taken, &count);
    }
    svg_group_end(stream);
}

/* Returns the text below the picture, which the caller frees, or NULL. */
static char *describe(const struct arrows_picture *picture)
{
    size_t notable = 0;
    struct memory_text text;

    if (!memory_text_open(&text))
        return NULL;
    for (size_t i = 0; i < picture->count; i++)
        notable += picture->arrows[i].is_notable;
    fprintf(text.stream,
            "A is %s, B is %s.\nAn arrow goes from the place in A to the place in B: %zu entities. "
            "A circle is only in A: %zu. A dot is only in B, or hardly moved: %zu are only in B.\n"
            "Dark blue: a difference was found (%zu).\n",
            picture->names[0], picture->names[1], count_in(picture, true, true),
            count_in(picture, true, false), count_in(picture, false, true), notable);
    if (memory_text_close(&text))
        return text.text;
    free(text.text);
    return NULL;
}

int arrows_write(FILE *stream, const struct arrows_picture *picture)
{
    struct box taken[TAKEN_MOST];
    char *text = describe(picture);
    double caption;
    int r = CAMP_OK;

    if (text == NULL)
        return CAMP_E_NOMEM;
    caption = CAPTION_LINE * (double)caption_draw(NULL, 0, WIDTH, text);
    svg_start(stream, WIDTH, HEIGHT + caption + MARGIN, "From A to B", ABOUT);
    caption_draw(stream, HEIGHT + CAPTION_LINE, WIDTH, text);
    free(text);
    triangle_draw(stream, picture->vertices, taken);
    svg_group(stream, "arrows");
    for (size_t i = picture->count; i > 0 && r == CAMP_OK; i--)
        r = draw_arrow(stream, picture, &picture->arrows[i - 1]);
    svg_group_end(stream);
    put_names(stream, picture, taken, TRIANGLE_TEXTS);
    svg_end(stream);
    return r;
}
