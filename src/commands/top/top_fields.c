#include "top_fields.h"

#include "ledger/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void top_fields_add(struct top_fields *fields, const struct field *added, size_t count)
{
    for (size_t i = 0; i < count && fields->count < TOP_FIELDS_MAXIMUM; i++)
        fields->fields[fields->count++] = added[i];
}

/* "user_ns" among states is "user". */
static void add_column(struct top_fields *fields, const struct column *column)
{
    char *name = fields->names[fields->count < TOP_FIELDS_MAXIMUM ? fields->count : 0];
    const bool is_state = column->kind == COLUMN_STATE;
    const struct field field = { .name = is_state ? name : column->name,
                                 .help = column->help,
                                 .group = is_state ? "states" : "counters" };
    const size_t length = strlen(column->name) - (ends_with(column->name, "_ns") ? 3 : 0);

    if (is_state)
        snprintf(name, sizeof fields->names[0], "%.*s", (int)length, column->name);
    top_fields_add(fields, &field, 1);
}

void top_fields_add_schema(struct top_fields *fields, const struct schema *schema)
{
    static const struct field unaccounted = { .name = "unaccounted_ns",
                                              .help = "wall time in no state" };

    for (size_t i = 0; i < schema->column_count; i++)
        add_column(fields, &schema->columns[i]);
    top_fields_add(fields, &unaccounted, 1);
}

struct cell *top_cells_add(struct cell *cells, const struct frame *frame, size_t row)
{
    const uint64_t *values = frame_values(frame, row);

    for (size_t i = 0; i < frame->schema->column_count; i++)
        *cells++ = cell_natural(values[i]);
    *cells++ = cell_integer(frame_unaccounted_ns(frame, row));
    return cells;
}

struct cell top_percent(int64_t part, uint64_t whole, char buffer[TOP_PERCENT_SIZE])
{
    const double percent = whole > 0 ? 100.0 * (double)part / (double)whole : NAN;

    if (isnan(percent))
        return cell_unknown();
    if (fabs(percent) < 0.05)
        return emphasised(cell_real(0), FAINT);
    if (fabs(percent) < 99.95)
        return cell_real(percent);
    if (fabs(percent) < 9999.5)
        return cell_integer(llround(percent));
    snprintf(buffer, TOP_PERCENT_SIZE, "%.0fk", percent / 1000);
    return cell_text(buffer);
}
