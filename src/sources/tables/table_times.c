#include "table_rows.h"

#include "counters/units.h"

#include <math.h>
#include <stdlib.h>

/* an entity was absent if its previous row is more than 1.5 x spacing_ns ago */
#define ABSENT_SPACINGS 1.5
#define NEVER UINT32_MAX

#define USUAL_SIZE 65536

/* Numbers whose median is wanted. If there may be more than USUAL_SIZE numbers, only each step-th
 * position is kept. */
struct usual {
    size_t count, step;
    double numbers[USUAL_SIZE];
};

/* Returns a struct for numbers at positions below `count`, or NULL if there is no memory. The
 * caller frees it. */
static struct usual *usual_of(size_t count)
{
    struct usual *usual = malloc(sizeof *usual);

    if (usual != NULL) {
        usual->count = 0;
        usual->step = 1 + count / USUAL_SIZE;
    }
    return usual;
}

/* Each number has its own position, such as the index of a row. */
static void usual_add(struct usual *usual, size_t position, double number)
{
    if (position % usual->step == 0)
        usual->numbers[usual->count++] = number;
}

static int compare_numbers(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Returns the lower median, which is always one of the numbers. Returns 0 if there are no
 * numbers. */
static double usual_median(struct usual *usual)
{
    if (usual->count == 0)
        return 0;
    qsort(usual->numbers, usual->count, sizeof *usual->numbers, compare_numbers);
    return usual->numbers[(usual->count - 1) / 2];
}

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

struct last_row {
    int64_t time;
    uint32_t frame;       /* number of the row's frame, from 0; NEVER if there was no row yet */
    uint32_t valid_frame; /* number of the newest frame with a valid row of the entity, or NEVER */
};

/* Returns the time since the previous row of the entity, or 0 if no earlier frame has a row of the
 * entity. The result is negative if the previous row is not in the preceding frame. Marks a second
 * row with the same time and entity as skipped. */
static double measure_gap(struct table_rows *rows, size_t row, uint32_t frame,
                          struct last_row *last_row)
{
    const bool is_first = last_row->frame == NEVER || last_row->frame == frame;
    const bool was_there = last_row->frame + 1 == frame;
    const double gap = is_first ? 0 : (double)(rows->times[row] - last_row->time);

    last_row->time = rows->times[row];
    last_row->frame = frame;
    if (table_rows_is_skipped(rows, row))
        return was_there ? gap : -gap;
    if (last_row->valid_frame == frame)
        table_rows_skip(rows, row, "its time and entity have a row already");
    last_row->valid_frame = frame;
    return was_there ? gap : -gap;
}

/* Finds the usual time between frames, and between rows of an entity. If there is no column of
 * elapsed times, stores the results of measure_gap() in rows->elapsed. */
static void measure_gaps(struct table_times *times, struct table_rows *rows, bool has_elapsed,
                         struct last_row *last_rows, struct usual *frames, struct usual *entities)
{
    size_t gap_count = 0;
    uint32_t frame = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = times->order[i];
        const int64_t since = i > 0 ? rows->times[row] - rows->times[times->order[i - 1]] : 0;
        double gap;

        if (since > 0)
            usual_add(frames, frame++, (double)since);
        if (rows->entities[row] == 0)
            continue;
        gap = measure_gap(rows, row, frame, &last_rows[rows->entities[row] - 1]);
        if (gap != 0)
            usual_add(entities, gap_count++, fabs(gap));
        if (!has_elapsed && !table_rows_is_skipped(rows, row))
            rows->elapsed[row].read = gap;
    }
    times->interval_ns = (uint64_t)usual_median(frames);
    times->spacing_ns = (uint64_t)usual_median(entities);
    if (times->spacing_ns == 0)
        times->spacing_ns = times->interval_ns;
}

static int find_gaps(struct table_times *times, struct table_rows *rows, bool has_elapsed)
{
    struct last_row *last_rows = malloc((rows->names.count + 1) * sizeof *last_rows);
    struct usual *frames = usual_of(rows->count), *entities = usual_of(rows->count);
    const bool has_memory = last_rows != NULL && frames != NULL && entities != NULL;

    for (size_t i = 0; has_memory && i < rows->names.count; i++)
        last_rows[i] = (struct last_row){ 0, NEVER, NEVER };
    if (has_memory)
        measure_gaps(times, rows, has_elapsed, last_rows, frames, entities);
    free(last_rows);
    free(frames);
    free(entities);
    return has_memory ? CAMP_OK : CAMP_E_NOMEM;
}

/* Returns the unit of `number` with which `number` + `fixed_ns` is nearest to `length_ns`. Tries
 * the units from `first` on. If several units are equally near, returns the first of them. */
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

/* Sets *ret_ns to the median of the column of elapsed times. Guesses the unit of the column if
 * neither its name nor `wanted` is a unit of time. */
static int find_elapsed(struct table_times *times, const struct table_rows *rows,
                        const struct table_columns *columns, enum unit wanted, double *ret_ns)
{
    const enum unit unit = columns->columns[columns->elapsed].unit;
    struct usual *usual = usual_of(rows->count);
    double median;

    if (usual == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        if (!table_rows_is_skipped(rows, i))
            usual_add(usual, i, rows->elapsed[i].read);
    }
    median = usual_median(usual);
    free(usual);
    times->elapsed_unit = unit != UNIT_NONE ? unit : wanted;
    if (!unit_is_time(times->elapsed_unit))
        times->elapsed_unit = nearest(UNIT_MS, 0, median,
                                      times->spacing_ns > 0 ? (double)times->spacing_ns : NS_PER_S);
    *ret_ns = median * unit_ns(times->elapsed_unit, 0);
    return CAMP_OK;
}

/* Scales the times of all rows so that spacing_ns becomes elapsed_ns. */
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

/* Guesses the unit of the values whose column has no unit in its name. If all these values are 0,
 * any unit is right. */
static int guess_unit(struct table_times *times, const struct table_rows *rows,
                      const struct table_columns *columns, double length_ns)
{
    struct usual *fixed = usual_of(rows->count), *sums = usual_of(rows->count);
    const bool has_memory = fixed != NULL && sums != NULL;

    for (size_t i = 0; has_memory && i < rows->count; i++) {
        const double sum =
            table_rows_is_skipped(rows, i) ? 0 : sum_of(rows, columns, i, false, length_ns);

        if (sum > 0 && isfinite(sum)) {
            usual_add(sums, i, sum);
            usual_add(fixed, i, sum_of(rows, columns, i, true, length_ns));
        }
    }
    times->unit = UNIT_MS;
    if (has_memory) {
        times->sum = usual_median(sums);
        times->is_guessed = times->sum > 0;
        if (times->is_guessed)
            times->unit = nearest(UNIT_PERCENT, usual_median(fixed), times->sum, length_ns);
    }
    free(fixed);
    free(sums);
    return has_memory ? CAMP_OK : CAMP_E_NOMEM;
}

/* Finds the units that are not in the name of a column. If all rows have the same time, there is no
 * usual time between rows: spacing_ns is then the usual elapsed time, or 1 s. */
static int find_units(struct table_times *times, struct table_rows *rows,
                      const struct table_columns *columns, enum unit wanted)
{
    double length_ns = 0;
    int r = CAMP_OK;

    if (columns->has_elapsed) {
        r = find_elapsed(times, rows, columns, wanted, &length_ns);
        if (columns->time_form.is_plain && times->spacing_ns > 0)
            stretch(times, rows, length_ns);
    }
    if (times->spacing_ns == 0)
        times->spacing_ns =
            length_ns >= 1 && length_ns < TABLE_LARGEST_NS ? (uint64_t)length_ns : NS_PER_S;
    if (times->interval_ns == 0)
        times->interval_ns = times->spacing_ns;
    times->unit = wanted;
    return r != CAMP_OK || wanted != UNIT_NONE
               ? r
               : guess_unit(times, rows, columns,
                            length_ns > 0 ? length_ns : (double)times->spacing_ns);
}

/* Returns the elapsed time of a row without a column of elapsed times. `gap` is the result of
 * measure_gap(). */
static double elapsed_by_gap(const struct table_times *times, double gap)
{
    if (gap > 0)
        return gap;
    return gap < 0 && -gap <= ABSENT_SPACINGS * (double)times->spacing_ns
               ? -gap
               : (double)times->spacing_ns;
}

/* Converts the values of a row to ns. Returns false if a value exceeds TABLE_LARGEST_NS. */
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

static void convert(const struct table_times *times, struct table_rows *rows,
                    const struct table_columns *columns)
{
    for (size_t i = 0; i < rows->count; i++) {
        const double read = rows->elapsed[i].read;
        double elapsed_ns = columns->has_elapsed ? read * unit_ns(times->elapsed_unit, 0)
                                                 : elapsed_by_gap(times, read);

        if (!table_rows_is_skipped(rows, i) &&
            (!(elapsed_ns >= 1 && elapsed_ns < (double)(INT64_MAX / 2)) ||
             !convert_values(times, rows, columns, i, elapsed_ns)))
            table_rows_skip(rows, i, "a number is too large or too small for a time");
        if (table_rows_is_skipped(rows, i))
            elapsed_ns = 0;
        rows->elapsed[i].ns = (uint64_t)llrint(elapsed_ns);
    }
}

int table_times_find(struct table_times *ret, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted)
{
    int r = CAMP_E_NOMEM;

    *ret = (struct table_times){ .order = order_of(rows) };
    if (ret->order != NULL)
        r = find_gaps(ret, rows, columns->has_elapsed);
    if (r == CAMP_OK)
        r = find_units(ret, rows, columns, wanted);
    if (r == CAMP_OK)
        convert(ret, rows, columns);
    return r;
}
