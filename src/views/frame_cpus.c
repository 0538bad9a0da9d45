#include "frame_cpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_WIDTH 5

static void add_field(struct frame_cpus *ret, struct field field)
{
    if (ret->field_count < FRAME_CPU_COLUMNS_MOST)
        ret->fields[ret->field_count++] = field;
}

/* Text has the states and one counter: the time that a hypervisor stole. The states also contain
 * this time. */
static bool is_in_text(const struct column *column)
{
    return column->kind == COLUMN_STATE || strcmp(column->name, "steal_ns") == 0;
}

/* A session of microstates may not know the system time or the interrupts of CPUs. */
static bool is_known(const struct column *column)
{
    return column->provenance != CAMP_UNKNOWN;
}

static void add_column(struct frame_cpus *ret, const struct column *column)
{
    add_field(ret, (struct field){ .name = column->name,
                                   .help = column->help,
                                   .group = column->kind == COLUMN_STATE ? "states" : "counters" });
}

static void add_percent(struct frame_cpus *ret, const struct column *column)
{
    char *title = ret->names[ret->field_count < FRAME_CPU_COLUMNS_MOST ? ret->field_count : 0];
    const char *short_title = column_short_title_of(column->name);

    snprintf(title, ORDER_NAME_SIZE, "%s%%", short_title != NULL ? short_title : column->title);
    add_field(ret,
              (struct field){
                  .title = title, .help = column->help, .width = PERCENT_WIDTH, .decimals = 1 });
}

static void lay_out(struct frame_cpus *ret, bool for_text)
{
    ret->field_count = 0;
    if (for_text)
        add_field(ret, (struct field){ .title = "cpu", .width = 7 });
    else {
        add_field(ret, (struct field){ .name = "cpu", .help = "its number" });
        add_field(ret, (struct field){ .name = "elapsed_ns", .help = "wall time" });
    }
    for (size_t i = 0; i < ret->schema->column_count; i++) {
        if (!for_text)
            add_column(ret, &ret->schema->columns[i]);
        else if (is_in_text(&ret->schema->columns[i]))
            add_percent(ret, &ret->schema->columns[i]);
    }
    if (!for_text)
        add_field(ret, (struct field){ .name = "unaccounted_ns", .help = "in no state" });
}

/* Selects all CPUs. For text, if there are many CPUs, selects only the total and the busiest
 * CPUs. */
static int choose(struct frame_cpus *ret, const struct frame *cpus, bool for_text)
{
    struct selection selection = { .order = order_find(ret->schema, "cpu") };
    struct selected *selected = &ret->selected;
    int r;

    if (selection.order >= order_count(ret->schema))
        selection.order = 0;
    r = selection_pick(selected, cpus, &selection);
    if (r == CAMP_OK)
        r = selection_fill(selected, &selection);
    if (r != CAMP_OK)
        return r;
    if (for_text && cpus->entity_count > FRAME_CPU_LINES + 1) {
        /* The total has the most CPU time, so it is the first row. */
        selected->count = FRAME_CPU_LINES;
        return CAMP_OK;
    }
    selected->count = 0;
    for (size_t i = 0; i < cpus->entity_count; i++) {
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            selected->order[selected->count++] = i;
    }
    return CAMP_OK;
}

static void fill_text(struct frame_cpus *ret, size_t at, struct cell *cells)
{
    const size_t row = ret->selected.order[at];
    const struct frame *cpus = ret->selected.rows;
    const uint64_t *values = frame_values(cpus, row);
    size_t field = 1;

    *cells = cell_integer(cpus->entities[row].id);
    if (cpus->entities[row].id == CAMP_CPU_TOTAL) {
        snprintf(ret->all, sizeof ret->all, "all %" PRIu32, cpus->entities[row].count);
        *cells = cell_text(ret->all);
    }
    for (size_t i = 0; i < ret->schema->column_count && field < ret->field_count; i++) {
        if (!is_in_text(&ret->schema->columns[i]))
            continue;
        cells[field] =
            is_known(&ret->schema->columns[i])
                ? percent_cell((int64_t)values[i], cpus->elapsed_ns[row], ret->percents[at][field])
                : cell_unknown();
        field++;
    }
}

static void fill_all(const struct frame_cpus *ret, size_t at, struct cell *cells)
{
    const size_t row = ret->selected.order[at];
    const struct frame *cpus = ret->selected.rows;
    const uint64_t *values = frame_values(cpus, row);
    const struct cell *end = cells + ret->field_count - 1;

    *cells++ = cell_integer(cpus->entities[row].id);
    *cells++ = cell_natural(cpus->elapsed_ns[row]);
    for (size_t i = 0; i < ret->schema->column_count && cells < end; i++)
        *cells++ = is_known(&ret->schema->columns[i]) ? cell_natural(values[i]) : cell_unknown();
    *cells = cell_integer(frame_unaccounted_ns(cpus, row));
}

static int fill_rows(struct frame_cpus *ret, bool for_text)
{
    const size_t count = ret->selected.count;

    if (count > ret->capacity || ret->cells == NULL) {
        free(ret->cells);
        ret->cells = calloc((count + 1) * FRAME_CPU_COLUMNS_MOST, sizeof *ret->cells);
        ret->capacity = ret->cells != NULL ? count : 0;
    }
    for (size_t i = 0; ret->cells != NULL && i < count; i++) {
        if (for_text)
            fill_text(ret, i, ret->cells + i * ret->field_count);
        else
            fill_all(ret, i, ret->cells + i * ret->field_count);
    }
    return ret->cells != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

int frame_cpus_fill(struct frame_cpus *ret, const struct frame *cpus, bool for_text,
                    struct table *ret_table)
{
    int r;

    *ret_table = (struct table){ .name = "cpus", .shape = TABLE_ROWS, .hidden_in_text = true };
    if (cpus == NULL)
        return CAMP_OK;
    ret->schema = cpus->schema;
    lay_out(ret, for_text);
    r = choose(ret, cpus, for_text);
    if (r == CAMP_OK)
        r = fill_rows(ret, for_text);
    ret_table->fields = ret->fields;
    ret_table->field_count = ret->field_count;
    ret_table->cells = ret->cells;
    ret_table->row_count = ret->selected.count;
    ret_table->hidden_in_text = false;
    return r;
}

void frame_cpus_release(struct frame_cpus *cpus)
{
    selected_release(&cpus->selected);
    free(cpus->cells);
    *cpus = (struct frame_cpus){ 0 };
}
