/*
 * Groups of dots that share a colour. A group has the dots whose names differ only in a number at
 * the end, or the dots with the same value of a label. Only the largest groups have a colour and
 * are in the legend.
 */
#include "ledger/summary.h"
#include "palette.h"
#include "picture_parts.h"

#include <stdlib.h>
#include <string.h>

/* A possible group of dots. The first `length` bytes of `name` are a dot's name without the number
 * at its end ("web" for web1 and web2), or the value of a label. */
struct kind {
    const char *name;
    size_t length, count;
};

const char *group_name_of(const struct entity *entity, int colour, size_t *ret_length)
{
    const char *name = colour >= 0 ? labels_value(entity->labels, (size_t)colour) : entity->name;

    *ret_length = colour >= 0 ? strlen(name) : name_stem(name);
    return name;
}

static struct kind kind_of(const struct entity *entity, int colour)
{
    struct kind kind = { .count = 1 };

    kind.name = group_name_of(entity, colour, &kind.length);
    return kind;
}

static int compare_kinds(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;
    const int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_counts(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;

    return a->count != b->count ? (a->count > b->count ? -1 : 1) : compare_kinds(a, b);
}

/* Counts the dots of each possible group, and sorts the groups, the largest first. Returns the
 * number of groups. */
static size_t count_kinds(const struct dots *dots, const struct picture *picture, int colour,
                          struct kind *kinds)
{
    size_t count = 0;

    for (size_t i = 0; i < dots->count; i++)
        kinds[i] = kind_of(dots_entity(picture, &dots->dots[i]), colour);
    qsort(kinds, dots->count, sizeof *kinds, compare_kinds);
    for (size_t i = 0; i < dots->count; i++) {
        if (count > 0 && compare_kinds(&kinds[count - 1], &kinds[i]) == 0)
            kinds[count - 1].count++;
        else
            kinds[count++] = kinds[i];
    }
    qsort(kinds, count, sizeof *kinds, compare_counts);
    return count;
}

/* Finds the possible groups by picture->colour. For PICTURE_COLOUR_USUAL, dots are grouped by name
 * or, if all names are the same, by the first label with several values. */
static size_t find_kinds(struct dots *dots, const struct picture *picture, struct kind *kinds)
{
    const int labels = (int)picture->timeline->schema->label_count;

    dots->colour = picture->colour;
    if (picture->colour != PICTURE_COLOUR_USUAL)
        return count_kinds(dots, picture, dots->colour, kinds);
    for (dots->colour = PICTURE_COLOUR_NAME; dots->colour < labels; dots->colour++) {
        const size_t count = count_kinds(dots, picture, dots->colour, kinds);

        if (count > 1)
            return count;
    }
    dots->colour = PICTURE_COLOUR_NAME;
    return count_kinds(dots, picture, dots->colour, kinds);
}

static int group_of(const struct dots *dots, const struct kind *kind)
{
    for (size_t i = 0; i < dots->group_count; i++) {
        if (strlen(dots->names[i]) == kind->length &&
            memcmp(dots->names[i], kind->name, kind->length) == 0)
            return (int)i;
    }
    return -1;
}

int dots_find_groups(struct dots *dots, const struct picture *picture)
{
    struct kind *kinds = calloc(dots->count + 1, sizeof *kinds);
    size_t count;

    if (kinds == NULL)
        return CAMP_E_NOMEM;
    count = find_kinds(dots, picture, kinds);
    for (size_t i = 0; i < count && i < DOTS_GROUPS; i++) {
        /* A name that only one dot has forms no group. */
        if (kinds[i].count > 1 || dots->colour >= 0)
            snprintf(dots->names[dots->group_count++], LABELS_VALUE_SIZE, "%.*s",
                     (int)kinds[i].length, kinds[i].name);
    }
    for (size_t i = 0; i < dots->count; i++) {
        const struct kind kind = kind_of(dots_entity(picture, &dots->dots[i]), dots->colour);

        dots->dots[i].group = group_of(dots, &kind);
    }
    free(kinds);
    return CAMP_OK;
}

void dots_legend(FILE *stream, const struct picture *picture, const struct dots *dots,
                 struct svg_point at, double width)
{
    const double right = at.x + width;

    if (dots->colour >= 0) {
        const char *label = picture->timeline->schema->label_names[dots->colour];

        svg_text(stream, at, SVG_START, NULL, label);
        at.x += 14 + svg_text_width(label, 12) * 0.9;
    }

    for (size_t i = 0; i < dots->group_count; i++) {
        const char *name = dots->names[i][0] != '\0' ? dots->names[i]
                           : dots->colour >= 0       ? "(none)"
                                                     : "(no name)";
        const double wide = 16 + svg_text_width(name, 12) * 0.9;

        if (at.x + wide > right)
            break;
        svg_circle(stream, (struct svg_point){ at.x + 5, at.y - 4 }, 5,
                   &(struct svg_look){ .fill = palette_groups[i] }, NULL);
        svg_text(stream, (struct svg_point){ at.x + 14, at.y }, SVG_START, NULL, name);
        at.x += wide + 14;
    }
}
