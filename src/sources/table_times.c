#include "table_times.h"

#include "counters/units.h"
#include "ledger/vertex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOKED_AT 65536 /* rows, for what is usual: evenly spread */
#define AWAY 1.5        /* usual spacings after which an entity was not there */
/* A value: as many as there can be of states fit 63 bits. */
#define LARGEST_NS ((double)(INT64_MAX / VERTICES_STATES_MAXIMUM))
#define NOBODY UINT32_MAX

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

/* ---------------------------------------------------------------------------------- Usual -- */

/* Numbers of which the median is wanted: at most LOOKED_AT of `count`. */
struct usual {
    double *numbers;
    size_t count, step;
};

static bool usual_init(struct usual *usual, size_t count)
{
    *usual = (struct usual){ .step = 1 + count / LOOKED_AT };
    usual->numbers = malloc((count / usual->step + 1) * sizeof *usual->numbers);
    return usual->numbers != NULL;
}

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* 0 when there is none. */
static double usual_median(struct usual *usual)
{
    if (usual->count == 0)
        return 0;
    qsort(usual->numbers, usual->count, sizeof *usual->numbers, compare_numbers);
    return usual->numbers[usual->count / 2];
}

/* --------------------------------------------------------------------- Rows in their order -- */

/* When an entity was met last. */
struct met {
    int64_t time;
    uint32_t frame; /* counted from 0; NOBODY: never */
    uint32_t taken; /* the last frame in which it has a row that is not passed over */
};

/* A walk over all rows, frame by frame. */
struct walk {
    const struct table_rows *rows;
    const uint32_t *order;
    struct met *met; /* [names.count] */
    size_t at;
    uint32_t frame;
    int64_t time;
};

/* What the walk has come to. */
struct step {
    size_t row;
    int64_t frame_gap; /* since the frame before, where one begins; 0: none begins, or the first */
    int64_t gap;       /* since the entity's row before; 0: it is its first, or not known whose */
    bool was_there;    /* that row is in the frame before */
    struct met *met;   /* as it is now; NULL: not known whose row it is */
};

static bool walk_init(struct walk *walk, const struct table_rows *rows, const uint32_t *order)
{
    *walk = (struct walk){ .rows = rows, .order = order };
    walk->met = malloc((rows->names.count + 1) * sizeof *walk->met);
    for (size_t i = 0; walk->met != NULL && i < rows->names.count; i++)
        walk->met[i] = (struct met){ 0, NOBODY, NOBODY };
    return walk->met != NULL;
}

static void meet(const struct walk *walk, struct met *met, struct step *ret)
{
    ret->met = met;
    if (met->frame != NOBODY && met->frame != walk->frame) {
        ret->gap = walk->time - met->time;
        ret->was_there = met->frame + 1 == walk->frame;
    }
    met->time = walk->time;
    met->frame = walk->frame;
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
        meet(walk, &walk->met[rows->entities[ret->row] - 1], ret);
    return true;
}

static bool is_passed_over(const struct table_rows *rows, size_t row)
{
    return isnan(rows->elapsed[row].read);
}

static void pass_over(struct table_rows *rows, size_t row, const char *problem)
{
    rows->elapsed[row].read = NAN;
    table_rows_pass_over(rows, rows->numbers[row], problem);
}

static void add_every(struct usual *usual, size_t at, double number)
{
    if (at % usual->step == 0)
        usual->numbers[usual->count++] = number;
}

/* Passes over who has a row of this time already, and finds what is usual between frames and
 * between rows of an entity. */
static void look_at_gaps(struct table_times *times, struct table_rows *rows, struct walk *walk,
                         struct usual *frames, struct usual *entities)
{
    size_t frame_count = 0, gap_count = 0;
    struct step step;

    while (walk_next(walk, &step)) {
        if (step.frame_gap > 0)
            add_every(frames, frame_count++, (double)step.frame_gap);
        if (step.gap > 0)
            add_every(entities, gap_count++, (double)step.gap);
        if (step.met == NULL || is_passed_over(rows, step.row))
            continue;
        if (step.met->taken == walk->frame)
            pass_over(rows, step.row, "its time and entity have a row already");
        step.met->taken = walk->frame;
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
        look_at_gaps(times, rows, &walk, &frames, &entities);
        r = CAMP_OK;
    }
    free(walk.met);
    free(frames.numbers);
    free(entities.numbers);
    return r;
}

/* ---------------------------------------------------------------------------------- Units -- */

/* The unit in which `fixed_ns` and so many of it come nearest to `length_ns`; of those that do
 * equally the first of enum unit. */
static enum unit nearest(enum unit first, double fixed_ns, double number, double length_ns)
{
    double least = INFINITY;
    enum unit best = first;

    for (enum unit unit = first; unit < UNIT_COUNT; unit++) {
        const double sum = fixed_ns + number * unit_ns(unit, length_ns);
        const double distance = fabs(log(sum / length_ns));

        if (distance < least - 1e-9) {
            least = distance;
            best = unit;
        }
    }
    return best;
}

/* The usual elapsed time by the column of it, whose unit is found where nobody says it. */
static int find_elapsed(struct table_times *times, const struct table_rows *rows, enum unit *unit,
                        double *ret_ns)
{
    struct usual usual;
    double median;

    if (!usual_init(&usual, rows->count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        if (!is_passed_over(rows, i))
            add_every(&usual, i, rows->elapsed[i].read);
    }
    median = usual_median(&usual);
    free(usual.numbers);
    if (!unit_is_time(*unit))
        *unit = nearest(UNIT_MS, 0, median,
                        times->spacing_ns > 0 ? (double)times->spacing_ns : NS_PER_S);
    *ret_ns = median * unit_ns(*unit, 0);
    return CAMP_OK;
}

/* Times that only count become as long as the elapsed times say. */
static void stretch(struct table_times *times, struct table_rows *rows, double elapsed_ns)
{
    const double factor = elapsed_ns / (double)times->spacing_ns;
    double last = 0;

    for (size_t i = 0; i < rows->count; i++)
        last = fmax(last, (double)rows->times[i]);
    if (!(last * factor < (double)(INT64_MAX / 2)) || !(factor > 0))
        return;
    for (size_t i = 0; i < rows->count; i++)
        rows->times[i] = llrint((double)rows->times[i] * factor);
    times->interval_ns = (uint64_t)((double)times->interval_ns * factor);
    times->spacing_ns = (uint64_t)((double)times->spacing_ns * factor);
}

static double sum_of(const struct table_rows *rows, const struct table_columns *columns, size_t row,
                     bool with_unit, double length_ns)
{
    const union amount *value = &rows->values[row * rows->state_count];
    double sum = 0;

    for (size_t i = 0; i < columns->count; i++) {
        const struct table_column *column = &columns->columns[i];

        if (column->use != USE_STATE)
            continue;
        if ((column->unit != UNIT_NONE) == with_unit)
            sum += value->read * unit_ns(column->unit, length_ns);
        value++;
    }
    return sum;
}

/* The unit of values without one; nothing is guessed when all of them are 0. */
static int guess_unit(struct table_times *times, const struct table_rows *rows,
                      const struct table_columns *columns, double length_ns)
{
    struct usual fixed = { 0 }, sums = { 0 };
    int r = CAMP_E_NOMEM;
    double sum;

    times->unit = UNIT_MS;
    if (usual_init(&fixed, rows->count) && usual_init(&sums, rows->count)) {
        for (size_t i = 0; i < rows->count; i++) {
            sum = is_passed_over(rows, i) ? 0 : sum_of(rows, columns, i, false, length_ns);
            if (sum > 0 && isfinite(sum)) {
                add_every(&sums, i, sum);
                add_every(&fixed, i, sum_of(rows, columns, i, true, length_ns));
            }
        }
        times->sum = usual_median(&sums);
        times->is_guessed = times->sum > 0;
        if (times->is_guessed)
            times->unit = nearest(UNIT_PERCENT, usual_median(&fixed), times->sum, length_ns);
        r = CAMP_OK;
    }
    free(fixed.numbers);
    free(sums.numbers);
    return r;
}

static bool has_free_unit(const struct table_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->columns[i].use == USE_STATE && columns->columns[i].unit == UNIT_NONE)
            return true;
    }
    return false;
}

static enum unit elapsed_unit(const struct table_columns *columns, enum unit said)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->columns[i].use == USE_ELAPSED && columns->columns[i].unit != UNIT_NONE)
            return columns->columns[i].unit;
    }
    return said;
}

static int find_units(struct table_times *times, struct table_rows *rows,
                      const struct table_columns *columns, enum unit said,
                      enum unit *ret_elapsed_unit)
{
    double length_ns = 0;
    int r = CAMP_OK;

    *ret_elapsed_unit = elapsed_unit(columns, said);
    if (columns->has_elapsed) {
        r = find_elapsed(times, rows, ret_elapsed_unit, &length_ns);
        if (columns->time_form.is_plain && times->spacing_ns > 0)
            stretch(times, rows, length_ns);
    }
    if (times->spacing_ns == 0)
        times->spacing_ns =
            length_ns >= 1 && length_ns < LARGEST_NS ? (uint64_t)length_ns : NS_PER_S;
    if (times->interval_ns == 0)
        times->interval_ns = times->spacing_ns;
    if (r != CAMP_OK || !has_free_unit(columns))
        return r;
    times->unit = said;
    return said != UNIT_NONE ? CAMP_OK
                             : guess_unit(times, rows, columns,
                                          length_ns > 0 ? length_ns : (double)times->spacing_ns);
}

/* ------------------------------------------------------------------------------- Into times -- */

/* The row's own time without a column that says it. */
static double elapsed_by_rows(const struct table_times *times, const struct step *step)
{
    if (step->gap > 0 && (step->was_there || (double)step->gap <= AWAY * (double)times->spacing_ns))
        return (double)step->gap;
    return (double)times->spacing_ns;
}

/* False: a value is more than a frame can hold. */
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
        if (!(ns <= LARGEST_NS))
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
        if (!is_passed_over(rows, step.row) &&
            (!(elapsed_ns >= 1 && elapsed_ns < (double)(INT64_MAX / 2)) ||
             !convert_values(times, rows, columns, step.row, elapsed_ns)))
            pass_over(rows, step.row, "a number is too large or too small for a time");
        if (is_passed_over(rows, step.row))
            elapsed_ns = 0;
        rows->elapsed[step.row].ns = (uint64_t)llrint(elapsed_ns);
    }
    free(walk.met);
    return CAMP_OK;
}

int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit said)
{
    struct table_times times = { .order = order_of(rows) };
    enum unit unit = UNIT_NONE;
    int r = times.order != NULL ? find_gaps(&times, rows) : CAMP_E_NOMEM;

    if (r == CAMP_OK)
        r = find_units(&times, rows, columns, said, &unit);
    if (r == CAMP_OK)
        r = convert(&times, rows, columns, unit);
    if (r != CAMP_OK) {
        free(times.order);
        return r;
    }
    *ret = times;
    return CAMP_OK;
}
