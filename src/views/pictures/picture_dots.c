/*
 * Dots in a triangle or tetrahedron, one for each entity.
 *
 * Dots within the same 2 x 2 pixels share a place. The first dot of a place is drawn at its exact
 * position, and up to six other dots around the first dot. If a place has more dots, a label states
 * their number.
 */
#include "palette.h"
#include "picture_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 2.0     /* dots within a square of this size share a place, px */
#define SHOWN_MOST 7 /* most dots drawn at a place */
#define NO_GROUP "#57606a"
#define LABELLED_MOST 6 /* most labels of dots that are not pinned */
#define LABEL_SIZE 11
#define LABELS_MAXIMUM 64
/* A dot with a smaller share of the first vertex gets no label, unless it is pinned. */
#define LABEL_SHARE 0.02

void dots_release(struct dots *dots)
{
    free(dots->dots);
    *dots = (struct dots){ 0 };
}

const struct entity *dots_entity(const struct picture *picture, const struct dot *dot)
{
    const struct timeline *timeline = picture->timeline;

    return &timeline->registry.entities[timeline->entities[dot->row]].entity;
}

int dots_gather(struct dots *ret, const struct picture *picture,
                void (*project)(const struct position *position, struct dot *dot))
{
    const struct timeline *timeline = picture->timeline;
    const struct timeline_frame *frame = &timeline->frames[picture->frame];

    *ret = (struct dots){ .dots = calloc(frame->count + 1, sizeof *ret->dots) };
    if (ret->dots == NULL)
        return CAMP_E_NOMEM;
    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        struct dot *dot = &ret->dots[ret->count];
        struct position position;

        if (!timeline_weigh(timeline, row, picture->vertices, &dot->weights))
            continue;
        sums_add(&ret->sums, &dot->weights, picture->vertices->count, timeline->elapsed_s[row]);
        if (!weights_position(&dot->weights, picture->vertices->count, &position))
            continue;
        dot->row = row;
        dot->is_pinned = picture->pinned != NULL && picture->pinned[timeline->entities[row]];
        project(&position, dot);
        ret->count++;
    }
    /* The caller releases *ret also after a failure. */
    return dots_find_groups(ret, picture);
}

static int compare_numbers(double left, double right)
{
    return (left > right) - (left < right);
}

static bool is_same_place(const struct dot *a, const struct dot *b)
{
    return floor(a->at.x / CELL) == floor(b->at.x / CELL) &&
           floor(a->at.y / CELL) == floor(b->at.y / CELL);
}

static double worst_of(const struct dot *dot)
{
    return fmax(fmax(dot->weights.missing, dot->weights.over), dot->weights.left_out);
}

/* Far dots come first. Of dots at the same place, pinned dots come first, and then dots with the
 * most missing, twice accounted or left-out time. */
static int compare_dots(const void *left, const void *right)
{
    const struct dot *a = left, *b = right;
    int order = compare_numbers(floor(b->depth * 50), floor(a->depth * 50));

    if (order == 0)
        order = compare_numbers(floor(a->at.y / CELL), floor(b->at.y / CELL));
    if (order == 0)
        order = compare_numbers(floor(a->at.x / CELL), floor(b->at.x / CELL));
    if (order == 0)
        order = b->is_pinned - a->is_pinned;
    if (order == 0)
        order = compare_numbers(worst_of(b), worst_of(a));
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static double radius_of(const struct dots *dots, const struct dot *dot)
{
    const double radius = dots->count > 1500 ? 2.5 : dots->count > 300 ? 3.2 : 4.5;

    return radius * (1.2 - 0.5 * dot->depth);
}

struct text_part {
    char text[512];
    size_t length;
};

/* Appends a share such as ", CPU 12.0 %". The digits are computed with integers, because formatting
 * a double is slow. */
static void append_share(struct text_part *text, const char *name, double share)
{
    const long tenths = lround(fmin(fabs(share), 1e6) * 1000);
    const int length = snprintf(text->text + text->length, sizeof text->text - text->length,
                                ", %.60s %s%ld.%ld %%", name, share < 0 && tenths > 0 ? "-" : "",
                                tenths / 10, tenths % 10);

    if ((size_t)length < sizeof text->text - text->length)
        text->length += (size_t)length;
}

static void describe_dot(struct text_part *text, const struct picture *picture,
                         const struct dot *dot)
{
    char name[ENTITY_TEXT_SIZE];

    entity_text(name, dots_entity(picture, dot));
    text->length = (size_t)snprintf(text->text, sizeof text->text, "%s", name);
    for (size_t i = 0; i < picture->vertices->count; i++)
        append_share(text, picture->vertices->names[i], dot->weights.shares[i]);
    if (dot->weights.left_out > 0)
        append_share(text, "left out", dot->weights.left_out);
    if (dot->weights.missing > SHOWN_UNACCOUNTED)
        append_share(text, "missing", dot->weights.missing);
    if (dot->weights.over > SHOWN_UNACCOUNTED)
        append_share(text, "accounted twice", dot->weights.over);
}

static void draw_dot(FILE *stream, const struct picture *picture, const struct dots *dots,
                     const struct dot *dot, struct svg_point at)
{
    const double radius = radius_of(dots, dot);
    double ring = radius + 2.4;
    struct text_part text;

    describe_dot(&text, picture, dot);
    svg_circle(stream, at, radius,
               &(struct svg_look){ .class = SVG_DOT,
                                   .fill = dot->group >= 0 ? palette_groups[dot->group] : NO_GROUP,
                                   .opacity = 1 - 0.5 * dot->depth },
               text.text);
    if (dot->weights.missing > SHOWN_UNACCOUNTED) {
        svg_circle(stream, at, ring, &(struct svg_look){ .class = SVG_MISSING }, NULL);
        /* The next ring is larger, because in merged frames a dot can have more than one ring. */
        ring += 2;
    }
    if (dot->weights.over > SHOWN_UNACCOUNTED) {
        svg_circle(stream, at, ring, &(struct svg_look){ .class = SVG_OVER }, NULL);
        ring += 2;
    }
    if (dot->weights.left_out > SHOWN_LEFT_OUT)
        svg_circle(stream, at, ring, &(struct svg_look){ .class = SVG_LEFT_OUT }, NULL);
}

static size_t place_end(const struct dots *dots, size_t begin)
{
    size_t end = begin + 1;

    while (end < dots->count && is_same_place(&dots->dots[begin], &dots->dots[end]))
        end++;
    return end;
}

static void draw_place(FILE *stream, const struct picture *picture, const struct dots *dots,
                       size_t begin, size_t end)
{
    const struct svg_point centre = dots->dots[begin].at;
    const size_t shown = end - begin < SHOWN_MOST ? end - begin : SHOWN_MOST;

    for (size_t i = shown; i-- > 0;) {
        const double angle = 2 * acos(-1) * (double)i / (SHOWN_MOST - 1);
        const double distance = i == 0 ? 0 : 1.2 * radius_of(dots, &dots->dots[begin]);

        draw_dot(stream, picture, dots, &dots->dots[begin + i],
                 (struct svg_point){ centre.x + distance * cos(angle),
                                     centre.y + distance * sin(angle) });
    }
}

struct dot_labels {
    FILE *stream;
    const struct dots *dots;
    struct box boxes[LABELS_MAXIMUM];
    size_t count;
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static size_t dots_in(const struct dots *dots, const struct box *box)
{
    const double near = radius_of(dots, &(struct dot){ 0 }) * 0.8;
    size_t count = 0;

    for (size_t i = 0; i < dots->count; i++) {
        const struct svg_point at = dots->dots[i].at;

        count += at.x > box->left - near && at.x < box->right + near && at.y > box->top - near &&
                 at.y < box->bottom + near;
    }
    return count;
}

/* Returns the number of dots that a text in the box would hide, or SIZE_MAX if the text would
 * overlap another text or leave the picture. */
static size_t cost_of(const struct dot_labels *labels, const struct box *box)
{
    if (box->left < 2 || box->right > DOTS_WIDTH - 2)
        return SIZE_MAX;
    for (size_t i = 0; i < labels->count; i++) {
        if (overlap(box, &labels->boxes[i]))
            return SIZE_MAX;
    }
    return dots_in(labels->dots, box);
}

/* Draws a label to the right of a dot, to the left, above or below, wherever it hides the fewest
 * dots. If there is no space, the label is not drawn. */
static void put_label(struct dot_labels *labels, struct svg_point at, double distance,
                      const char *text)
{
    const double width = svg_text_width(text, LABEL_SIZE);
    const struct svg_point places[] = { { at.x + distance, at.y + 4 },
                                        { at.x - distance, at.y + 4 },
                                        { at.x, at.y - distance },
                                        { at.x, at.y + distance + 8 } };
    static const enum svg_anchor anchors[] = { SVG_START, SVG_END, SVG_MIDDLE, SVG_MIDDLE };
    size_t best = 0, least = SIZE_MAX;
    struct box box = { 0 };

    for (size_t i = 0; i < 4 && labels->count < LABELS_MAXIMUM; i++) {
        const double left = places[i].x - width * (anchors[i] == SVG_END      ? 1
                                                   : anchors[i] == SVG_MIDDLE ? 0.5
                                                                              : 0);
        const struct box place = { left, places[i].y - LABEL_SIZE, left + width, places[i].y + 3 };
        const size_t cost = cost_of(labels, &place);

        if (cost < least) {
            least = cost;
            best = i;
            box = place;
        }
    }
    if (least == SIZE_MAX)
        return;
    svg_text(labels->stream, places[best], anchors[best], SVG_LABEL, text);
    labels->boxes[labels->count++] = box;
}

static void label_dot(struct dot_labels *labels, const struct picture *picture,
                      const struct dot *dot)
{
    char text[ENTITY_TEXT_SIZE];

    entity_text(text, dots_entity(picture, dot));
    put_label(labels, dot->at, radius_of(labels->dots, dot) + 4, text);
}

/* Returns the seconds that the dot's entity spent at the first vertex, or 0 if the share of this
 * vertex is below LABEL_SHARE. */
static double weight_of(const struct picture *picture, const struct dot *dot)
{
    return dot->weights.shares[0] < LABEL_SHARE
               ? 0
               : dot->weights.shares[0] * picture->timeline->elapsed_s[dot->row];
}

/* Labels the dots whose entities spent the most time at the first vertex, in descending order of
 * this time. */
static void label_largest(struct dot_labels *labels, const struct picture *picture)
{
    double below = INFINITY;

    for (size_t labelled = 0; labelled < LABELLED_MOST; labelled++) {
        const struct dot *largest = NULL;

        for (size_t i = 0; i < labels->dots->count; i++) {
            const struct dot *dot = &labels->dots->dots[i];
            const double weight = weight_of(picture, dot);

            if (!dot->is_pinned && weight < below && weight > 0 &&
                (largest == NULL || weight > weight_of(picture, largest)))
                largest = dot;
        }
        if (largest == NULL)
            return;
        label_dot(labels, picture, largest);
        below = weight_of(picture, largest);
    }
}

/* Labels dots that are too few to need a choice, such as those of groups. */
static void label_all(struct dot_labels *labels, const struct picture *picture)
{
    for (size_t i = 0; i < labels->dots->count; i++) {
        if (!labels->dots->dots[i].is_pinned)
            label_dot(labels, picture, &labels->dots->dots[i]);
    }
}

static void label_counts(struct dot_labels *labels)
{
    const struct dots *dots = labels->dots;
    char text[32];

    for (size_t begin = 0, end; begin < dots->count; begin = end) {
        end = place_end(dots, begin);
        if (end - begin <= SHOWN_MOST)
            continue;
        snprintf(text, sizeof text, "%zu dots", end - begin);
        put_label(labels, dots->dots[begin].at, 2.4 * radius_of(dots, &dots->dots[begin]) + 4,
                  text);
    }
}

void dots_draw(FILE *stream, const struct picture *picture, struct dots *dots,
               const struct box *taken, size_t count)
{
    struct dot_labels labels = { .stream = stream, .dots = dots, .count = count };

    memcpy(labels.boxes, taken, count * sizeof *taken);
    qsort(dots->dots, dots->count, sizeof *dots->dots, compare_dots);
    svg_group(stream, "dots");
    for (size_t begin = 0, end; begin < dots->count; begin = end) {
        end = place_end(dots, begin);
        draw_place(stream, picture, dots, begin, end);
    }
    svg_group_end(stream);
    svg_group(stream, "labels");
    for (size_t i = 0; i < dots->count; i++) {
        if (dots->dots[i].is_pinned)
            label_dot(&labels, picture, &dots->dots[i]);
    }
    label_counts(&labels);
    if (dots->count <= LABELLED_MOST)
        label_all(&labels, picture);
    else
        label_largest(&labels, picture);
    svg_group_end(stream);
}
