/*
 * Barry3 and Barry4: each entity is a dot in a triangle or tetrahedron, as in Figures 5(b), 6 and 8
 * of "Barry007" (picture.h).
 *
 * In the triangle, each vertex has lines at shares of 25, 50 and 75 %, in the colour of the vertex
 * and parallel to the opposite side. The numbers are at the ends of the lines: on the left side for
 * the upper vertex, on the base for the left vertex, and on the right side for the right vertex.
 *
 * The tetrahedron is seen from a fixed viewpoint, without perspective. Farther dots are smaller and
 * paler. If there are few dots, each dot has a stem straight down to the base.
 */
#include "picture_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH DOTS_WIDTH
#define HEIGHT_OF_TRIANGLE TRIANGLE_HEIGHT
#define TOP TRIANGLE_TOP
#define LEGEND_AT 50.0
#define STEMS_MOST 100
#define NAME_SIZE 13.5 /* wider than the 13 px of the font, because names are bold */
#define NAME_MARK 14.0
#define AXES_TEXT_SIZE 80

struct svg_point triangle_point(const struct position *position)
{
    return (struct svg_point){ WIDTH / 2 + HEIGHT_OF_TRIANGLE * (position->x - 1 / sqrt(3)),
                               TOP + HEIGHT_OF_TRIANGLE * (1 - position->y) };
}

static void project_3(const struct position *position, struct dot *dot)
{
    dot->at = triangle_point(position);
}

/* Returns the point on a side of the triangle where the share of `vertex` is `share`, and the share
 * of `other` is 1 - `share`. */
static struct svg_point on_side(size_t vertex, double share, size_t other)
{
    struct weights weights = { 0 };
    struct position position = { 0, 0, 0 };

    weights.shares[other] = 1 - share;
    weights.shares[vertex] = share;
    weights_position(&weights, 3, &position);
    return triangle_point(&position);
}

static struct svg_point corner_of_triangle(size_t vertex)
{
    return on_side(vertex, 1, vertex);
}

#define TICKS (TRIANGLE_TEXTS - 3)
#define TICK_WIDTH 40.0
#define TICK_SIZE 11.0

/* Draws the grid. Sets `ret_taken` to the boxes that the numbers cover. */
static void draw_grid(FILE *stream, const struct vertices *vertices, struct box ret_taken[TICKS])
{
    static const struct svg_point gaps[] = { { -24, 4 }, { 0, 18 }, { 24, 4 } };

    svg_group(stream, "axes");
    for (size_t i = 0; i < TICKS; i++) {
        const size_t vertex = i / 3, quarter = 1 + i % 3;
        const double share = (double)quarter / 4;
        const struct svg_point end = on_side(vertex, share, (vertex + 1) % 3);
        const struct svg_point at = { end.x + gaps[vertex].x, end.y + gaps[vertex].y };
        char text[8];

        svg_line(stream, end, on_side(vertex, share, (vertex + 2) % 3),
                 &(struct svg_look){ .stroke = vertex_line_colour(vertices, vertex),
                                     .stroke_width = 1,
                                     .opacity = 0.75,
                                     .dashes = "4 4" });
        snprintf(text, sizeof text, "%zu %%", 25 * quarter);
        ret_taken[i] = (struct box){ at.x - TICK_WIDTH / 2, at.y - TICK_SIZE, at.x + TICK_WIDTH / 2,
                                     at.y + 3 };
        svg_text(stream, at, SVG_MIDDLE, SVG_TICK, text);
    }
    svg_polygon(
        stream,
        (struct svg_point[]){ corner_of_triangle(0), corner_of_triangle(1), corner_of_triangle(2) },
        3, &(struct svg_look){ .class = SVG_FRAME });
    svg_group_end(stream);
}

/* Draws the name of a vertex after a mark in the vertex's colour. The name is centred at `at`, but
 * moved or truncated so that it stays within [from, to). Returns the box that the mark and the name
 * cover. */
static struct box draw_name(FILE *stream, const struct vertices *vertices, size_t vertex,
                            struct svg_point at, double from, double to)
{
    const char *name = vertices->names[vertex];
    const double room = to - from - NAME_MARK;
    const bool fits = svg_text_width(name, NAME_SIZE) <= room;
    const size_t length = fits ? strlen(name) : svg_text_fit(name, NAME_SIZE, room - NAME_MARK);
    const struct svg_look mark = area_look(vertex_colour(vertices, vertex));
    char text[AXES_TEXT_SIZE];
    double width;

    snprintf(text, sizeof text, "%.*s%s", (int)length, name, name[length] != '\0' ? "..." : "");
    width = NAME_MARK + svg_text_width(text, NAME_SIZE);
    at.x = fmax(from, fmin(to - width, at.x - width / 2));
    svg_circle(stream, (struct svg_point){ at.x + 5, at.y - 4.5 }, 5, &mark, NULL);
    svg_text(stream, (struct svg_point){ at.x + NAME_MARK, at.y }, SVG_START, SVG_NAME, text);
    return (struct box){ at.x, at.y - NAME_SIZE, at.x + width, at.y + 4 };
}

static void draw_names_3(FILE *stream, const struct vertices *vertices, struct box ret_taken[3])
{
    const struct svg_point top = corner_of_triangle(0), left = corner_of_triangle(1),
                           right = corner_of_triangle(2);

    ret_taken[0] = draw_name(stream, vertices, 0, (struct svg_point){ top.x, top.y - 12 }, MARGIN,
                             WIDTH - MARGIN);
    ret_taken[1] = draw_name(stream, vertices, 1, (struct svg_point){ left.x, left.y + 42 }, MARGIN,
                             top.x - 8);
    ret_taken[2] = draw_name(stream, vertices, 2, (struct svg_point){ right.x, right.y + 42 },
                             top.x + 8, WIDTH - MARGIN);
}

size_t triangle_draw(FILE *stream, const struct vertices *vertices,
                     struct box ret_taken[TRIANGLE_TEXTS])
{
    draw_grid(stream, vertices, ret_taken);
    draw_names_3(stream, vertices, ret_taken + TICKS);
    return TRIANGLE_TEXTS;
}

static int draw_barry(FILE *stream, const struct picture *picture, const char *about, double height,
                      void (*project)(const struct position *, struct dot *),
                      void (*draw)(FILE *, const struct picture *, struct dots *))
{
    struct dots dots;
    int r = dots_gather(&dots, picture, project);

    if (r == CAMP_OK)
        r = start_picture(stream, picture, about, WIDTH, height,
                          &(struct caption){
                              .from = picture->frame,
                              .to = picture->frame + 1,
                              .entities = dots.count,
                              .remark = ".",
                              .sums = &dots.sums,
                              .nouns = { "dot", "dots" },
                              .missing = " (red rings)",
                              .over = " (black rings)",
                              .left_out = " (broken blue rings)",
                              .has_positions = true,
                          });
    if (r == CAMP_OK) {
        dots_legend(stream, picture, &dots, (struct svg_point){ MARGIN, LEGEND_AT },
                    WIDTH - 2 * MARGIN);
        draw(stream, picture, &dots);
        svg_end(stream);
    }
    dots_release(&dots);
    return r;
}

static void draw_triangle(FILE *stream, const struct picture *picture, struct dots *dots)
{
    struct box taken[TRIANGLE_TEXTS];

    dots_draw(stream, picture, dots, taken, triangle_draw(stream, picture->vertices, taken));
}

int picture_barry3(FILE *stream, const struct picture *picture)
{
    return draw_barry(stream, picture,
                      "A triangle with a dot for each entity: the nearer a corner, the larger the "
                      "share of its time that is of that kind.",
                      TOP + HEIGHT_OF_TRIANGLE + 60, project_3, draw_triangle);
}

#define YAW 0.61       /* angle by which the tetrahedron is turned to the left, radians */
#define PITCH 0.35     /* angle of the view from above, radians */
#define SCALE 430.0    /* height of the tetrahedron, px */
#define CENTRE_X 345.0 /* x of the centroid, px; leaves space for a name at the right */
#define CENTRE_Y 400.0
#define NEAREST (-0.52) /* depth of the nearest corner, relative to the centroid */
#define FARTHEST 0.64

static void project_4(const struct position *position, struct dot *dot)
{
    const double edge = sqrt(1.5);
    const double x = position->x - edge / 2, y = position->y - 0.25,
                 z = position->z - edge * sqrt(3) / 6;
    const double across = cos(YAW) * x + sin(YAW) * z, behind = cos(YAW) * z - sin(YAW) * x;

    dot->at = (struct svg_point){ CENTRE_X + SCALE * across,
                                  CENTRE_Y - SCALE * (cos(PITCH) * y + sin(PITCH) * behind) };
    dot->depth =
        fmin(1, fmax(0, (cos(PITCH) * behind - sin(PITCH) * y - NEAREST) / (FARTHEST - NEAREST)));
}

static struct svg_point corner_of(size_t vertex)
{
    struct weights weights = { 0 };
    struct position position = { 0, 0, 0 };
    struct dot dot = { 0 };

    weights.shares[vertex] = 1;
    weights_position(&weights, 4, &position);
    project_4(&position, &dot);
    return dot.at;
}

/* The edge from the left corner (1) to the rear corner (3) is dashed, because it is behind two
 * faces. */
static void draw_edges(FILE *stream)
{
    for (size_t from = 0; from < 4; from++) {
        for (size_t to = from + 1; to < 4; to++) {
            const bool hidden = from == 1 && to == 3;

            svg_line(stream, corner_of(from), corner_of(to),
                     &(struct svg_look){ .class = SVG_FRAME,
                                         .dashes = hidden ? "5 5" : NULL,
                                         .opacity = hidden ? 0.6 : 0 });
        }
    }
}

/* Draws a stem from a dot straight down to the base, where the share of the upper vertex is 0. */
static void draw_stem(FILE *stream, const struct dot *dot)
{
    const double whole = dot->weights.shares[0] + dot->weights.shares[1] + dot->weights.shares[2] +
                         dot->weights.shares[3];
    const struct svg_point foot = { dot->at.x, dot->at.y + SCALE * cos(PITCH) *
                                                               dot->weights.shares[0] / whole };

    svg_line(stream, dot->at, foot,
             &(struct svg_look){ .class = "stem",
                                 .stroke = "#57606a",
                                 .stroke_width = 0.8,
                                 .opacity = 0.5 - 0.3 * dot->depth });
    svg_circle(stream, foot, 1.2, &(struct svg_look){ .fill = "#57606a", .opacity = 0.5 }, NULL);
}

static void draw_tetrahedron(FILE *stream, const struct picture *picture, struct dots *dots)
{
    const struct vertices *vertices = picture->vertices;
    const struct svg_point top = corner_of(0), left = corner_of(1), right = corner_of(2),
                           behind = corner_of(3);
    struct box taken[4];

    svg_group(stream, "axes");
    svg_polygon(stream, (struct svg_point[]){ left, right, behind }, 3,
                &(struct svg_look){ .fill = "#f1f3f5" });
    draw_edges(stream);
    for (size_t i = 0; dots->count <= STEMS_MOST && i < dots->count; i++)
        draw_stem(stream, &dots->dots[i]);
    svg_group_end(stream);
    taken[0] = draw_name(stream, vertices, 0, (struct svg_point){ top.x, top.y - 12 }, MARGIN,
                         WIDTH - MARGIN);
    taken[1] = draw_name(stream, vertices, 1, (struct svg_point){ left.x, left.y + 26 }, MARGIN,
                         right.x - 60);
    taken[2] = draw_name(stream, vertices, 2, (struct svg_point){ right.x, right.y + 26 },
                         left.x + 60, WIDTH - MARGIN);
    taken[3] = draw_name(stream, vertices, 3, (struct svg_point){ behind.x, behind.y + 5 },
                         behind.x + 14, WIDTH - MARGIN);
    dots_draw(stream, picture, dots, taken, 4);
}

int picture_barry4(FILE *stream, const struct picture *picture)
{
    return draw_barry(stream, picture,
                      "A tetrahedron with a dot for each entity: the nearer a corner, the larger "
                      "the share of its time that is of that kind.",
                      corner_of(2).y + 40, project_4, draw_tetrahedron);
}
