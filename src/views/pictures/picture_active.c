/* What pictures of active time (ledger/active.h) share: columns of time, and the legend. */
#include "palette.h"
#include "picture_parts.h"
#include "plot.h"

#include <math.h>

#define GAP_SHARE 0.5

const enum column_class active_classes[ACTIVE_CLASSES] = {
    CLASS_CPU,        CLASS_READY,   CLASS_THROTTLED,  CLASS_IO,
    CLASS_CONTENTION, CLASS_NETWORK, CLASS_OTHER_WAIT, CLASS_NONE,
};

size_t active_column_of(const struct timeline *timeline, size_t frame, size_t columns)
{
    return frame * columns / timeline->frame_count;
}

size_t active_columns(const struct timeline *timeline, size_t most, struct active_column *ret)
{
    const size_t count = timeline->frame_count < most ? timeline->frame_count : most;

    for (size_t i = 0; i < count; i++)
        ret[i] = (struct active_column){ .begin = INFINITY };
    for (size_t i = 0; i < timeline->frame_count; i++) {
        struct active_column *column = &ret[active_column_of(timeline, i, count)];
        const double begin = (double)timeline->frames[i].begin_ns / 1e9,
                     end = (double)timeline->frames[i].end_ns / 1e9;

        column->begin = fmin(column->begin, begin);
        column->end = end;
        column->length_s += fmax(end - begin, 1e-9);
    }
    return count;
}

bool active_is_after_gap(const struct active_column *column)
{
    return column->begin - column[-1].end > GAP_SHARE * (column->end - column->begin);
}

bool active_row(const struct timeline *timeline, size_t row, struct active *ret, struct sums *sums)
{
    const double elapsed_s = timeline->elapsed_s[row];
    const struct weights weights = { .shares = { 1 },
                                     .missing = timeline->missing[row],
                                     .over = timeline->over[row] };

    if (!(elapsed_s > 0))
        return false;
    active_of_timeline(timeline, row, ret);
    sums_add(sums, &weights, 1, elapsed_s);
    return true;
}

void active_legend(FILE *stream, struct svg_point at, double width, const struct active *sum,
                   double length_s)
{
    struct plot_legend entries[ACTIVE_CLASSES + 1];
    char titles[ACTIVE_CLASSES + 1][40];
    size_t count = 0;

    for (size_t i = 0; i <= ACTIVE_CLASSES; i++) {
        const bool is_missing = i == ACTIVE_CLASSES;
        const double seconds = is_missing ? sum->missing_s : sum->seconds[active_classes[i]];

        if (!(seconds > 0))
            continue;
        snprintf(titles[count], sizeof titles[count], "%s %.2f",
                 is_missing ? "unaccounted" : column_class_title(active_classes[i]),
                 seconds / length_s);
        entries[count] = (struct plot_legend){ .title = titles[count], .mark = PLOT_AREA };
        entries[count].look.fill = is_missing ? SVG_HATCHED : palette_classes[active_classes[i]];
        count++;
    }
    if (count > 0)
        plot_legend(stream, at, width, entries, count);
}
