/*
 * Labels of the triangle (barry.h). A label covers no dot and no other label.
 */
#include "barry_canvas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 15
#define GAP_MAXIMUM 3 /* most columns between dot and label: blank, side of the triangle, blank */

/* Returns true if a label may cover columns [from, to) of the row: no cell has a `what` above
 * `most`. */
static bool is_free(const struct canvas *canvas, size_t row, size_t from, size_t to, enum what most)
{
    for (size_t i = from; i < to && i < canvas->barry->columns; i++) {
        if (barry_spot(canvas, row, i)->what > most)
            return false;
    }
    return true;
}

/* Finds space for a label of `width` columns, `gap` columns to the left or right of a cell. The
 * label has a blank at both ends. A side of the triangle may be in the gap. Returns the first
 * column of the label, or SIZE_MAX if there is no space. */
static size_t find_room(const struct canvas *canvas, size_t row, size_t column, size_t width,
                        size_t gap, bool on_left)
{
    size_t at;

    if (on_left) {
        if (column < width + gap)
            return SIZE_MAX;
        at = column - gap - width;
        if (!is_free(canvas, row, column - gap + 1, column, SIDE))
            return SIZE_MAX;
    } else {
        at = column + 1 + gap;
        if (at + width > canvas->barry->columns ||
            !is_free(canvas, row, column + 1, column + gap, SIDE))
            return SIZE_MAX;
    }
    return is_free(canvas, row, at > 0 ? at - 1 : 0, at + width + 1, BASE) ? at : SIZE_MAX;
}

/* Writes `name` and `rest` beside a cell, as near as possible. At equal distance, the side away
 * from the middle of the triangle is chosen. Returns false if there is no space. */
static bool put_beside(const struct canvas *canvas, size_t row, size_t column, const char *name,
                       const char *rest)
{
    const bool utf8 = canvas->barry->utf8;
    const size_t name_width = barry_write(NULL, name, utf8, NAME_COLUMNS);
    const size_t width = name_width + strlen(rest);
    const bool is_left = column < canvas->left + canvas->height;

    for (size_t attempt = 0; attempt < 2 * GAP_MAXIMUM; attempt++) {
        const bool on_left = (attempt % 2 == 0) == is_left;
        const size_t at = find_room(canvas, row, column, width, 1 + attempt / 2, on_left);

        if (at == SIZE_MAX)
            continue;
        /* A blank separates the label from the cell. The blank may replace a "_" of the lower
         * side. */
        *barry_spot(canvas, row, on_left ? at + width : at - 1) = (struct spot){ .what = TEXT };
        barry_write(barry_spot(canvas, row, at), name, utf8, name_width);
        barry_write(barry_spot(canvas, row, at + name_width), rest, false, strlen(rest));
        barry_spot(canvas, row, column)->labelled = true;
        return true;
    }
    return false;
}

static void name_points(const struct canvas *canvas)
{
    const struct barry *barry = canvas->barry;
    size_t left = canvas->height / 3 + 1; /* more names would hide the picture */

    for (size_t i = 0; i < barry->point_count && left > 0; i++) {
        const struct barry_point *point = &barry->points[i];
        const double share = point->weights.missing - point->weights.over;
        char others[24] = "", unaccounted[40] = "", rest[64];
        struct place place;

        if (point->name == NULL || !barry_place(canvas, &point->weights, &place) ||
            place.spot->first != i)
            continue;
        if (place.spot->count > 1)
            snprintf(others, sizeof others, " +%zu", place.spot->count - 1);
        if (fabs(share) >= SHOWN_SHARE)
            snprintf(unaccounted, sizeof unaccounted, " un %.1f%%", 100 * share);
        snprintf(rest, sizeof rest, "%s%s", others, unaccounted);
        left -= put_beside(canvas, place.row, place.column, point->name, rest);
    }
}

static void number_cells(const struct canvas *canvas)
{
    for (size_t row = 1; row <= canvas->height; row++) {
        for (size_t column = 0; column < canvas->barry->columns; column++) {
            const struct spot *spot = barry_spot(canvas, row, column);
            char number[24];

            if (spot->count <= DOTS_IN_CELL || spot->labelled)
                continue;
            snprintf(number, sizeof number, "%zu", spot->count);
            put_beside(canvas, row, column, "", number);
        }
    }
}

static void number_quarters(const struct canvas *canvas)
{
    for (int i = 1; canvas->height >= HEIGHT_OF_QUARTERS && i < 4; i++) {
        const struct place place = barry_quarter(canvas, 1, 0, i);
        char number[8];

        snprintf(number, sizeof number, "%d%%", 25 * i);
        if (place.spot->count == 0)
            put_beside(canvas, place.row, place.column, "", number);
    }
}

void barry_label(const struct canvas *canvas)
{
    name_points(canvas);
    number_cells(canvas);
    number_quarters(canvas);
}
