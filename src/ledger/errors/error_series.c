#include "error_series.h"

#include "ledger/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tasks_columns_find(struct tasks_columns *ret, const struct schema *schema)
{
    *ret = (struct tasks_columns){
        .measured = schema_find_column(schema, "measured_ns"),
        .sampled = schema_find_column(schema, "sampled_ns"),
        .absolute = schema_find_column(schema, "absolute_ns"),
        .active = schema_find_column(schema, "active"),
        .maximum = schema_find_column(schema, "maximum_error_millionths"),
        .stray = schema_find_column(schema, "stray_ns"),
    };
    return strcmp(schema->name, "tasks") == 0 && ret->measured != SIZE_MAX;
}

static uint64_t value_at(const uint64_t *values, size_t column)
{
    return column != SIZE_MAX ? values[column] : 0;
}

struct accuracy tasks_columns_accuracy(const struct tasks_columns *columns, const uint64_t *values)
{
    const uint64_t stray = value_at(values, columns->stray);

    return (struct accuracy){
        .active = value_at(values, columns->active),
        .measured = (double)value_at(values, columns->measured),
        .sampled = (double)counted_since(stray, value_at(values, columns->sampled)),
        .absolute = (double)value_at(values, columns->absolute),
        .maximum = (double)value_at(values, columns->maximum) / 1e6,
        .stray = (double)stray,
    };
}

void error_series_release(struct error_series *series)
{
    free(series->intervals);
    *series = (struct error_series){ 0 };
}

static double percent(double part_ns, uint64_t whole_ns)
{
    return whole_ns > 0 ? 100 * part_ns / (double)whole_ns : NAN;
}

int error_series_add(struct error_series *series, int64_t end_ns, uint64_t length_ns,
                     const struct accuracy *accuracy, bool is_sampled)
{
    if (!ARRAY_RESERVE(series->intervals, series->capacity, series->count + 1))
        return CAMP_E_NOMEM;
    series->intervals[series->count++] = (struct error_interval){
        .end_ns = end_ns,
        .length_ns = length_ns,
        .measured = percent(accuracy->measured, length_ns),
        .sampled = is_sampled ? percent(accuracy->sampled, length_ns) : NAN,
        .error = is_sampled ? error_percent(accuracy->measured, accuracy->sampled) : NAN,
        .absolute = is_sampled ? absolute_error_percent(accuracy) : NAN,
        .maximum = is_sampled ? maximum_error_percent(accuracy) : NAN,
    };
    return CAMP_OK;
}

int error_series_add_frame(struct error_series *series, const struct frame *frame)
{
    struct accuracy whole = { 0 };
    struct tasks_columns columns;

    if (!tasks_columns_find(&columns, frame->schema))
        return CAMP_E_INVALID;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct accuracy part = tasks_columns_accuracy(&columns, frame_values(frame, i));

        accuracy_merge(&whole, &part);
    }
    return error_series_add(series, frame->wall_clock_ns, frame->end_ns - frame->start_ns, &whole,
                            columns.sampled != SIZE_MAX);
}

size_t error_series_points(const struct error_series *series, struct inverse_point *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < series->count; i++) {
        const struct error_interval *interval = &series->intervals[i];

        if (isfinite(interval->measured) && isfinite(interval->absolute))
            ret[count++] = (struct inverse_point){ interval->measured, interval->absolute };
    }
    return count;
}
