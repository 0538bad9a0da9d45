#include "table_units.h"

#include "counters/units.h"
#include "table_usual.h"

#include <math.h>

/* The unit in which `number`, together with `fixed_ns`, comes nearest to `length_ns`; the first of
 * equally near ones. */
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

/* The usual elapsed time by its column, whose unit is guessed if unknown. */
static int find_elapsed(struct table_times *times, const struct table_rows *rows, enum unit *unit,
                        double *ret_ns)
{
    struct usual usual;
    double median;

    if (!usual_init(&usual, rows->count))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        if (!table_rows_is_passed_over(rows, i))
            usual_add(&usual, i, rows->elapsed[i].read);
    }
    median = usual_median(&usual);
    usual_release(&usual);
    if (!unit_is_time(*unit))
        *unit = nearest(UNIT_MS, 0, median,
                        times->spacing_ns > 0 ? (double)times->spacing_ns : NS_PER_S);
    *ret_ns = median * unit_ns(*unit, 0);
    return CAMP_OK;
}

/* Stretches times that only count to the length of the elapsed times. */
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

/* Guesses the unit of values without one, unless all of them are 0. */
static int guess_unit(struct table_times *times, const struct table_rows *rows,
                      const struct table_columns *columns, double length_ns)
{
    struct usual fixed = { 0 }, sums = { 0 };
    int r = CAMP_E_NOMEM;
    double sum;

    times->unit = UNIT_MS;
    if (usual_init(&fixed, rows->count) && usual_init(&sums, rows->count)) {
        for (size_t i = 0; i < rows->count; i++) {
            sum =
                table_rows_is_passed_over(rows, i) ? 0 : sum_of(rows, columns, i, false, length_ns);
            if (sum > 0 && isfinite(sum)) {
                usual_add(&sums, i, sum);
                usual_add(&fixed, i, sum_of(rows, columns, i, true, length_ns));
            }
        }
        times->sum = usual_median(&sums);
        times->is_guessed = times->sum > 0;
        if (times->is_guessed)
            times->unit = nearest(UNIT_PERCENT, usual_median(&fixed), times->sum, length_ns);
        r = CAMP_OK;
    }
    usual_release(&fixed);
    usual_release(&sums);
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

static enum unit elapsed_unit(const struct table_columns *columns, enum unit wanted)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->columns[i].use == USE_ELAPSED && columns->columns[i].unit != UNIT_NONE)
            return columns->columns[i].unit;
    }
    return wanted;
}

int table_units_find(struct table_times *times, struct table_rows *rows,
                     const struct table_columns *columns, enum unit wanted,
                     enum unit *ret_elapsed_unit)
{
    double length_ns = 0;
    int r = CAMP_OK;

    *ret_elapsed_unit = elapsed_unit(columns, wanted);
    if (columns->has_elapsed) {
        r = find_elapsed(times, rows, ret_elapsed_unit, &length_ns);
        if (columns->time_form.is_plain && times->spacing_ns > 0)
            stretch(times, rows, length_ns);
    }
    if (times->spacing_ns == 0)
        times->spacing_ns =
            length_ns >= 1 && length_ns < TABLE_LARGEST_NS ? (uint64_t)length_ns : NS_PER_S;
    if (times->interval_ns == 0)
        times->interval_ns = times->spacing_ns;
    if (r != CAMP_OK || !has_free_unit(columns))
        return r;
    times->unit = wanted;
    return wanted != UNIT_NONE ? CAMP_OK
                               : guess_unit(times, rows, columns,
                                            length_ns > 0 ? length_ns : (double)times->spacing_ns);
}
