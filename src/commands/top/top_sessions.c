/* The column "in tx%" of database sessions: the part of their idle time in which they are within a
 * transaction, and keep its locks. */
#include "top_sessions.h"

#include "top.h"

#include <string.h>

#define IN_TRANSACTION "idle_in_transaction_ns"

/* Returns the index of a column that is not a state, or the number of columns. With --detail the
 * time in a transaction is a state of its own. */
static size_t find_counter(const struct schema *schema, const char *name)
{
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, name) == 0)
            return i;
    }
    return schema->column_count;
}

static void fill_extra(void *context, const struct frame *rows, size_t row, struct cell *ret)
{
    const struct top *top = context;
    const size_t column = find_counter(rows->schema, IN_TRANSACTION);
    const uint64_t interval = rows->end_ns - rows->start_ns;
    const uint64_t whole =
        top->style.percent_of == PERCENT_OF_ROW || interval == 0 ? rows->elapsed_ns[row] : interval;

    *ret = column < rows->schema->column_count && whole > 0
               ? cell_real(100 * (double)frame_values(rows, row)[column] / (double)whole)
               : cell_unknown();
}

void top_sessions_use_columns(struct top *top)
{
    static const struct field field = { .title = "in tx%", .width = 6, .decimals = 1 };
    const struct schema *schema = top->source->describe(top->source);
    const bool has_column = find_counter(schema, IN_TRANSACTION) < schema->column_count;

    if (top->style.fill_extra != NULL && top->style.fill_extra != fill_extra)
        return; /* --why has columns of its own. */
    top->style.extra = has_column ? &field : NULL;
    top->style.extra_count = has_column;
    top->style.fill_extra = has_column ? fill_extra : NULL;
}
