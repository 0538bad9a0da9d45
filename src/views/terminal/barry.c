#include "barry_canvas.h"

#include "ledger/words.h"
#include "views/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES_BESIDE 3 /* above the triangle: one name; below: two names, and the summary */
#define HEIGHT_MINIMUM 2
/* A tolerance, so that rounding errors move no point off a side of the triangle. */
#define NEAR 1e-9

struct spot *barry_spot(const struct canvas *canvas, size_t row, size_t column)
{
    return &canvas->spots[row * canvas->barry->columns + column];
}

size_t barry_write(struct spot *row, const char *text, bool utf8, size_t limit)
{
    size_t at = 0;

    while (*text != '\0') {
        size_t columns, step;
        const size_t length = character_length(text, &columns);

        if (length > 1 && !utf8)
            columns = 0;
        step = columns > 0 ? columns : 1;
        if (at + step > limit)
            break;
        for (size_t i = 0; row != NULL && i < step; i++)
            row[at + i] = (struct spot){ .what = TEXT, .is_second = i > 0 };
        if (row != NULL)
            memcpy(row[at].bytes, columns > 0 ? text : "?", columns > 0 ? length : 1);
        at += step;
        text += length;
    }
    return at;
}

static size_t dot_at(double value, size_t dots)
{
    return !(value > 0) ? 0 : value >= (double)dots ? dots - 1 : (size_t)value;
}

bool barry_place(const struct canvas *canvas, const struct weights *weights, struct place *ret)
{
    const size_t dots = 4 * canvas->height;
    struct position position;
    double across;
    size_t x, y;

    if (!weights_position(weights, 3, &position))
        return false;
    across = position.x * sqrt(3) / 2;
    x = dot_at(across * (double)dots + (across < 0.5 - NEAR ? -NEAR : NEAR), dots);
    y = dot_at((1 - position.y) * (double)dots + NEAR, dots);
    ret->row = 1 + y / 4;
    ret->column = canvas->left + x / 2;
    ret->spot = barry_spot(canvas, ret->row, ret->column);
    ret->x = x % 2;
    ret->y = y % 4;
    return true;
}

static void draw_side(const struct canvas *canvas, size_t row, size_t column, const char *text)
{
    struct spot *spot = barry_spot(canvas, row, column);

    strcpy(spot->bytes, text);
    spot->what = *text == '_' ? BASE : SIDE;
}

static void draw_sides(const struct canvas *canvas)
{
    const size_t height = canvas->height;

    for (size_t i = 0; i < height; i++) {
        draw_side(canvas, 1 + i, canvas->left + height - 1 - i, "/");
        draw_side(canvas, 1 + i, canvas->left + height + i, "\\");
    }
    for (size_t i = 1; i + 1 < 2 * height; i++)
        draw_side(canvas, height, canvas->left + i, "_");
}

struct place barry_quarter(const struct canvas *canvas, size_t from, size_t to, int quarters)
{
    struct weights weights = { 0 };
    struct place place;

    weights.shares[to] = quarters / 4.0;
    weights.shares[from] = 1 - weights.shares[to];
    /* barry_place() succeeds because the shares add up to 1. */
    barry_place(canvas, &weights, &place);
    return place;
}

static void draw_quarters(const struct canvas *canvas)
{
    for (int i = 1; canvas->height >= HEIGHT_OF_QUARTERS && i < 4; i++) {
        for (size_t side = 0; side < 3; side++) {
            const struct place place = barry_quarter(canvas, side, (side + 1) % 3, i);

            draw_side(canvas, place.row, place.column, "+");
        }
    }
}

/* Centres the text on the column `centre`, but keeps it within the columns [from, to). */
static void write_centred(const struct canvas *canvas, size_t row, const char *text, size_t centre,
                          size_t from, size_t to)
{
    const size_t width = barry_write(NULL, text, canvas->barry->utf8, to - from);
    size_t at = centre > from + width / 2 ? centre - width / 2 : from;

    if (at + width > to)
        at = to - width;
    barry_write(barry_spot(canvas, row, at), text, canvas->barry->utf8, width);
}

/* The names of the left and the right vertex share a line. Each name stays in its half of the line,
 * so that the names never overlap. */
static void draw_names(const struct canvas *canvas)
{
    const struct barry *barry = canvas->barry;
    const size_t middle = canvas->left + canvas->height, last = canvas->height + 1;

    write_centred(canvas, 0, barry->names[0], middle, 0, barry->columns);
    write_centred(canvas, last, barry->names[1], canvas->left, 0, middle - 1);
    write_centred(canvas, last, barry->names[2], middle + canvas->height - 1, middle,
                  barry->columns);
}

/* Sets the braille dot at (x, y) of the cell, or the nearest free dot if that dot is already
 * set. */
static void add_dot(struct spot *spot, size_t x, size_t y)
{
    static const uint8_t bits[4][2] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };
    size_t nearest = SIZE_MAX;
    uint8_t bit = 0;

    for (size_t i = 0; i < DOTS_IN_CELL; i++) {
        const size_t up = i / 2, along = i % 2;
        const size_t distance = (along != x) + (up > y ? up - y : y - up);

        if ((spot->dots & bits[up][along]) == 0 && distance < nearest) {
            nearest = distance;
            bit = bits[up][along];
        }
    }
    spot->dots |= bit;
}

static void show_dots(struct spot *spot, bool utf8)
{
    if (utf8) {
        spot->bytes[0] = (char)0xe2; /* U+2800 plus the bits of the dots, in UTF-8 */
        spot->bytes[1] = (char)(0xa0 | spot->dots >> 6);
        spot->bytes[2] = (char)(0x80 | (spot->dots & 0x3f));
    } else {
        spot->bytes[0] = spot->count < 2    ? '.'
                         : spot->count < 4  ? ':'
                         : spot->count < 8  ? 'o'
                         : spot->count < 16 ? 'O'
                                            : '@';
    }
    spot->what = TEXT;
}

static void draw_points(struct canvas *canvas)
{
    const struct barry *barry = canvas->barry;

    for (size_t i = 0; i < barry->point_count; i++) {
        const struct weights *weights = &barry->points[i].weights;
        const double unaccounted = weights->missing - weights->over;
        struct place place;

        canvas->incomplete += fabs(unaccounted) >= SHOWN_SHARE;
        if (fabs(unaccounted) > fabs(canvas->worst))
            canvas->worst = unaccounted;
        canvas->left_out = fmax(canvas->left_out, weights->left_out);
        if (!barry_place(canvas, weights, &place))
            continue;
        if (place.spot->count++ == 0)
            place.spot->first = i;
        add_dot(place.spot, place.x, place.y);
        show_dots(place.spot, barry->utf8);
        canvas->drawn++;
        if (place.spot->count > canvas->fullest)
            canvas->fullest = place.spot->count;
    }
}

/* The problems come before the meaning of the characters (".1 :2 o4"), because a long line is cut
 * off at its end. */
static void write_summary(const struct canvas *canvas, FILE *stream)
{
    const size_t nowhere = canvas->barry->point_count - canvas->drawn;

    fprintf(stream, "%zu %s", canvas->drawn, noun_of(canvas->drawn, "dot", "dots"));
    if (canvas->incomplete > 0)
        fprintf(stream, "; %zu unaccounted, worst %.1f%%", canvas->incomplete, 100 * canvas->worst);
    if (canvas->left_out >= SHOWN_SHARE)
        fprintf(stream, "; left out up to %.1f%%", 100 * canvas->left_out);
    if (nowhere > 0)
        fprintf(stream, "; %zu nowhere", nowhere);
    if (canvas->fullest > DOTS_IN_CELL)
        fprintf(stream, "; fullest cell %zu", canvas->fullest);
    if (canvas->fullest > 1 && !canvas->barry->utf8)
        fprintf(stream, "; .1 :2 o4 O8 @16");
}

static bool draw_summary(const struct canvas *canvas)
{
    const struct barry *barry = canvas->barry;
    const size_t row = canvas->height > 0 ? canvas->height + 2 : 0;
    char text[256] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");

    if (stream == NULL)
        return false;
    if (canvas->height > 0)
        write_summary(canvas, stream);
    else
        fprintf(stream, "no room for a triangle of %zu", barry->point_count);
    fclose(stream);
    barry_write(barry_spot(canvas, row, 0), text, false, barry->columns);
    return true;
}

static void write_row(const struct spot *row, size_t columns, FILE *stream)
{
    while (columns > 0 && row[columns - 1].bytes[0] == '\0' && !row[columns - 1].is_second)
        columns--;
    for (size_t i = 0; i < columns; i++) {
        if (!row[i].is_second)
            fputs(row[i].bytes[0] != '\0' ? row[i].bytes : " ", stream);
    }
    fputc('\n', stream);
}

static char *write_rows(const struct canvas *canvas)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (stream == NULL)
        return NULL;
    for (size_t i = 0; i < canvas->barry->rows; i++)
        write_row(barry_spot(canvas, i, 0), canvas->barry->columns, stream);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

char *barry_draw(const struct barry *barry)
{
    struct canvas canvas = { .barry = barry };
    const size_t highest = barry->rows > LINES_BESIDE ? barry->rows - LINES_BESIDE : 0;
    char *text = NULL;

    canvas.height = barry->columns / 2 < highest ? barry->columns / 2 : highest;
    if (canvas.height < HEIGHT_MINIMUM)
        canvas.height = 0;
    canvas.left = barry->columns / 2 - canvas.height;
    /* The + 1 avoids an allocation of 0 bytes, for which calloc() may return NULL. */
    canvas.spots = calloc(barry->rows + 1, (barry->columns + 1) * sizeof *canvas.spots);
    if (canvas.spots == NULL)
        return NULL;
    if (canvas.height > 0) {
        draw_sides(&canvas);
        draw_quarters(&canvas);
        draw_names(&canvas);
        draw_points(&canvas);
        barry_label(&canvas);
    }
    if (barry->rows == 0 || draw_summary(&canvas))
        text = write_rows(&canvas);
    free(canvas.spots);
    return text;
}
