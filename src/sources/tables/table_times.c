#include "table_times.h"

#include "table_units.h"
#include "table_usual.h"

#include <math.h>
#include <stdlib.h>

#define ABSENT_SPACINGS 1.5 /* usual spacings after which an entity was absent */
#define NEVER UINT32_MAX

/* ---------------------------------------------------------------------------------- Order -- */

static int compare_times(const void *left, const void *right, void *times)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int64_t *of = times;

    if (of[a] != of[b])
        return of[a] < of[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static uint32_t *order_of(struct table_rows *rows)
{
    uint32_t *order = malloc((rows->count + 1) * sizeof *order);

    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < rows->count; i++)
        order[i] = (uint32_t)i;
    if (!rows->is_in_order)
        qsort_r(order, rows->count, sizeof *order, compare_times, rows->times);
    return order;
}

/* ----------------------------------------------------------------------------- Rows in order -- */

/* The last row of an entity. */
struct last_row {
    int64_t time;
    uint32_t frame;       /* its number, from 0; NEVER: none */
    uint32_t valid_frame; /* the last frame with a valid row of it */
};

/* A pass over all rows, frame by frame. */
struct walk {
    const struct table_rows *rows;
    const uint32_t *order;
    struct last_row *last_row; /* [names.count] */
    size_t at;
    uint32_t frame;
    int64_t time;
};

/* The current row of the pass. */
struct step {
    size_t row;
    int64_t frame_gap; /* since the frame before, at the first row of a frame; 0: not the first row,
                          or no frame before */
    int64_t gap; /* since the entity's row before; 0: it is the first, or the entity is unknown */
    bool was_there;            /* the entity's row before is in the frame before */
    struct last_row *last_row; /* of the entity; NULL: unknown */
};

static bool walk_init(struct walk *walk, const struct table_rows *rows, const uint32_t *order)
{
    *walk = (struct walk){ .rows = rows, .order = order };
    walk->last_row = malloc((rows->names.count + 1) * sizeof *walk->last_row);
    for (size_t i = 0; walk->last_row != NULL && i < rows->names.count; i++)
        walk->last_row[i] = (struct last_row){ 0, NEVER, NEVER };
    return walk->last_row != NULL;
}

static void meet(const struct walk *walk, struct last_row *last_row, struct step *ret)
{
    ret->last_row = last_row;
    if (last_row->frame != NEVER && last_row->frame != walk->frame) {
        ret->gap = walk->time - last_row->time;
        ret->was_there = last_row->frame + 1 == walk->frame;
    }
    last_row->time = walk->time;
    last_row->frame = walk->frame;
}

static bool walk_next(struct walk *walk, struct step *ret)
{
    const struct table_rows *rows = walk->rows;

    if (walk->at == rows->count)
        return false;
    *ret = (struct step){ .row = walk->order[walk->at] };
    if (walk->at > 0 && rows->times[ret->row] != walk->time) {
        ret->frame_gap = rows->times[ret->row] - walk->time;
        walk->frame++;
    }
    walk->time = rows->times[ret->row];
    walk->at++;
    if (rows->entities[ret->row] != 0)
        meet(walk, &walk->last_row[rows->entities[ret->row] - 1], ret);
    return true;
}

static void pass_over(struct table_rows *rows, size_t row, const char *problem)
{
    rows->elapsed[row].read = NAN;
    table_rows_pass_over(rows, rows->numbers[row], problem);
}

/* Skips repeated rows of one time, and finds the usual time between frames and between rows of an
 * entity. */
static void measure_gaps(struct table_times *times, struct table_rows *rows, struct walk *walk,
                         struct usual *frames, struct usual *entities)
{
    size_t frame_count = 0, gap_count = 0;
    struct step step;

    while (walk_next(walk, &step)) {
        if (step.frame_gap > 0)
            usual_add(frames, frame_count++, (double)step.frame_gap);
        if (step.gap > 0)
            usual_add(entities, gap_count++, (double)step.gap);
        if (step.last_row == NULL || table_rows_is_passed_over(rows, step.row))
            continue;
        if (step.last_row->valid_frame == walk->frame)
            pass_over(rows, step.row, "its time and entity have a row already");
        step.last_row->valid_frame = walk->frame;
    }
    times->interval_ns = (uint64_t)usual_median(frames);
    times->spacing_ns = (uint64_t)usual_median(entities);
    if (times->spacing_ns == 0)
        times->spacing_ns = times->interval_ns;
}

static int find_gaps(struct table_times *times, struct table_rows *rows)
{
    struct walk walk;
    struct usual frames = { 0 }, entities = { 0 };
    int r = CAMP_E_NOMEM;

    if (walk_init(&walk, rows, times->order) && usual_init(&frames, rows->count) &&
        usual_init(&entities, rows->count)) {
        measure_gaps(times, rows, &walk, &frames, &entities);
        r = CAMP_OK;
    }
    free(walk.last_row);
    usual_release(&frames);
    usual_release(&entities);
    return r;
}

/* -------------------------------------------------------------------------------- Conversion -- */

/* The row's own time, without a column for it. */
static double elapsed_by_rows(const struct table_times *times, const struct step *step)
{
    if (step->gap > 0 &&
        (step->was_there || (double)step->gap <= ABSENT_SPACINGS * (double)times->spacing_ns))
        return (double)step->gap;
    return (double)times->spacing_ns;
}

/* False: a value is too large for a frame. */
static bool convert_values(const struct table_times *times, struct table_rows *rows,
                           const struct table_columns *columns, size_t row, double elapsed_ns)
{
    union amount *value = &rows->values[row * rows->state_count];

    for (size_t i = 0; i < columns->count; i++) {
        const struct table_column *column = &columns->columns[i];
        const enum unit unit = column->unit != UNIT_NONE ? column->unit : times->unit;
        double ns;

        if (column->use != USE_STATE)
            continue;
        ns = value->read * unit_ns(unit, elapsed_ns);
        if (!(ns <= TABLE_LARGEST_NS))
            return false;
        (value++)->ns = (uint64_t)llrint(ns);
    }
    return true;
}

static int convert(struct table_times *times, struct table_rows *rows,
                   const struct table_columns *columns, enum unit unit)
{
    struct walk walk;
    struct step step;

    if (!walk_init(&walk, rows, times->order))
        return CAMP_E_NOMEM;
    while (walk_next(&walk, &step)) {
        double elapsed_ns = columns->has_elapsed ? rows->elapsed[step.row].read * unit_ns(unit, 0)
                                                 : elapsed_by_rows(times, &step);
        if (!table_rows_is_passed_over(rows, step.row) &&
            (!(elapsed_ns >= 1 && elapsed_ns < (double)(INT64_MAX / 2)) ||
             !convert_values(times, rows, columns, step.row, elapsed_ns)))
            pass_over(rows, step.row, "a number is too large or too small for a time");
        if (table_rows_is_passed_over(rows, step.row))
            elapsed_ns = 0;
        rows->elapsed[step.row].ns = (uint64_t)llrint(elapsed_ns);
    }
    free(walk.last_row);
    return CAMP_OK;
}

int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted)
{
    struct table_times times = { .order = order_of(rows) };
    enum unit unit = UNIT_NONE;
    int r = times.order != NULL ? find_gaps(&times, rows) : CAMP_E_NOMEM;

    if (r == CAMP_OK)
        r = table_units_find(&times, rows, columns, wanted, &unit);
    if (r == CAMP_OK)
        r = convert(&times, rows, columns, unit);
    if (r != CAMP_OK) {
        free(times.order);
        return r;
    }
    *ret = times;
    return CAMP_OK;
}
