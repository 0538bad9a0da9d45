#include "top_cpus.h"

#include "sources/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PERCENT(title, help)                                                                       \
    {                                                                                              \
        NULL, title, help, 5, 1, false, NULL                                                       \
    }

static const struct field own_fields[] = {
    { "cpu", NULL, "its number", 0, 0, false, NULL },
    { NULL, "cpu", "its number; of many all, then the busiest", 7, 0, false, NULL },
    { "elapsed_ns", NULL, "wall time", 0, 0, false, NULL },
    PERCENT("usr%", "user"),
    PERCENT("sys%", "system"),
    PERCENT("irq%", "irq"),
    PERCENT("soft%", "softirq"),
    PERCENT("idle%", "idle"),
    PERCENT("iow%", "iowait"),
    PERCENT("stl%", "steal: within the others"),
};

/* The columns behind the percentages, in their order. */
static const enum cpus_states_column shown[TOP_CPU_PERCENTS] = {
    CPUS_STATES_USER, CPUS_STATES_SYSTEM, CPUS_STATES_IRQ,   CPUS_STATES_SOFTIRQ,
    CPUS_STATES_IDLE, CPUS_STATES_IOWAIT, CPUS_STATES_STEAL,
};

static int reserve(struct top_cpus *ret, const struct frame *cpus)
{
    if (ret->fields.count == 0) {
        top_fields_add(&ret->fields, own_fields, COUNT(own_fields));
        top_fields_add_schema(&ret->fields, cpus->schema);
    }
    if (cpus->entity_count > ret->capacity || ret->cells == NULL) {
        free(ret->cells);
        free(ret->order);
        ret->capacity = cpus->entity_count + 1;
        ret->cells = calloc(ret->capacity * ret->fields.count, sizeof *ret->cells);
        ret->order = calloc(ret->capacity, sizeof *ret->order);
    }
    return ret->cells != NULL && ret->order != NULL ? CAMP_OK : CAMP_E_NOMEM;
}

static uint64_t idle_ns(const struct frame *cpus, size_t row)
{
    const uint64_t *values = frame_values(cpus, row);

    return values[CPUS_STATES_IDLE] + values[CPUS_STATES_IOWAIT];
}

/* The total first, then who was idle least. */
static int compare_busy(const void *a, const void *b, void *context)
{
    const struct frame *cpus = context;
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const bool left_total = cpus->entities[left].id == CAMP_CPU_TOTAL;
    const bool right_total = cpus->entities[right].id == CAMP_CPU_TOTAL;

    if (left_total != right_total)
        return left_total ? -1 : 1;
    if (idle_ns(cpus, left) != idle_ns(cpus, right))
        return idle_ns(cpus, left) < idle_ns(cpus, right) ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Each CPU; in text no more than there are lines for. */
static size_t choose(struct top_cpus *ret, const struct frame *cpus, bool for_text)
{
    size_t count = 0;

    for (size_t i = 0; i < cpus->entity_count; i++) {
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            ret->order[count++] = i;
    }
    if (!for_text || count <= TOP_CPU_LINES)
        return count;
    for (count = 0; count < cpus->entity_count; count++)
        ret->order[count] = count;
    qsort_r(ret->order, count, sizeof *ret->order, compare_busy, (void *)cpus);
    return TOP_CPU_LINES;
}

static void fill_row(struct top_cpus *ret, const struct frame *cpus, size_t at, bool for_text)
{
    const size_t row = ret->order[at];
    const uint64_t elapsed_ns = cpus->elapsed_ns[row];
    struct cell *cells = &ret->cells[at * ret->fields.count];

    *cells++ = cell_integer(cpus->entities[row].id);
    *cells = cells[-1];
    if (cpus->entities[row].id == CAMP_CPU_TOTAL) {
        snprintf(ret->name, sizeof ret->name, "all %" PRIu32, cpus->entities[row].count);
        *cells = cell_text(ret->name);
    }
    cells++;
    *cells++ = cell_natural(elapsed_ns);
    for (size_t i = 0; i < TOP_CPU_PERCENTS; i++) {
        if (for_text)
            *cells = top_percent((int64_t)frame_values(cpus, row)[shown[i]], elapsed_ns,
                                 ret->percents[at][i]);
        cells++;
    }
    top_cells_add(cells, cpus, row);
}

int top_cpus_fill(struct top_cpus *ret, const struct frame *cpus, bool for_text,
                  struct table *ret_table)
{
    size_t count;

    if (reserve(ret, cpus) != CAMP_OK)
        return CAMP_E_NOMEM;
    count = choose(ret, cpus, for_text);
    for (size_t i = 0; i < count; i++)
        fill_row(ret, cpus, i, for_text);
    *ret_table =
        (struct table){ "cpus", TABLE_ROWS, ret->fields.fields, ret->fields.count, ret->cells,
                        count,  false };
    return CAMP_OK;
}

void top_cpus_release(struct top_cpus *cpus)
{
    free(cpus->cells);
    free(cpus->order);
    *cpus = (struct top_cpus){ 0 };
}
