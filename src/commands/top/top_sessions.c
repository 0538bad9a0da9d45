/* Columns of database sessions beside their states: "in tx%", the part of their idle time in which
 * they are within a transaction, and keep its locks; how long their waits lasted, where that is
 * known; and for statements what the database itself counts of them, with the difference to what
 * was measured. */
#include "top_sessions.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "sources/causes/wait_lengths.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

/* Of a statement: its calls that ended, the time of these by the database's own count, and the
 * statement's time that is not in it. A long call is counted in the interval in which it ends, so
 * the last is negative then. */
enum session_column {
    IN_TRANSACTION,
    CALLS,
    REPORTED,
    UNREPORTED,
    WAITS,
    WAITS_P50,
    WAITS_P99,
    WAITS_MAX,
    WAITS_MAX_ID,
    SESSION_COLUMNS
};

#define WAITS_COLUMN "waits"

static const struct {
    struct field field;
    const char *counter; /* the rows have the column if their source has this counter */
} columns[] = {
    [IN_TRANSACTION] = { { .title = "in tx%", .width = 6, .decimals = 1 },
                         "idle_in_transaction_ns" },
    [CALLS] = { { .title = "calls", .width = 7 }, "reported_calls" },
    [REPORTED] = { { .title = "rep%", .width = 6, .decimals = 1 }, "reported_execution_ns" },
    [UNREPORTED] = { { .title = "unrep%", .width = 6, .decimals = 1 }, "reported_execution_ns" },
    [WAITS] = { { .title = "waits", .width = 7 }, WAITS_COLUMN },
    [WAITS_P50] = { { .title = "p50 ms", .width = 8, .decimals = 3 }, WAITS_COLUMN },
    [WAITS_P99] = { { .title = "p99 ms", .width = 8, .decimals = 3 }, WAITS_COLUMN },
    [WAITS_MAX] = { { .title = "max ms", .width = 9, .decimals = 3 }, COLUMN_LONGEST },
    [WAITS_MAX_ID] = { { .title = "max id", .width = 7 }, "waits_max_id" },
};

/* What JSON and CSV have of the lengths besides the columns of the source. */
static const struct field more_fields[] = {
    { .name = "waits_p50_ns", .help = "half of the waits lasted no longer, to a factor of 2" },
    { .name = "waits_p99_ns", .help = "99 % of the waits lasted no longer, to a factor of 2" },
};

/* With --detail the time in a transaction is a state, not a counter. */
static bool has_counter(const struct schema *schema, enum session_column column)
{
    return schema_find_counter(schema, columns[column].counter) != SIZE_MAX;
}

/* Returns the value of a row's counter, or 0 if there is none. */
static uint64_t value_of(const struct frame *rows, size_t row, const char *name)
{
    const size_t column = schema_find_counter(rows->schema, name);

    return column != SIZE_MAX ? frame_values(rows, row)[column] : 0;
}

/* Returns whether the rows are groups by statement, or were recorded so. */
static bool is_by_statement(const struct top *top)
{
    const char *group = top_group_name(top, top->group);

    return from_group_has(group != NULL ? group : top->facts.kind, SOURCE_LABEL_STATEMENT);
}

/* Returns whether a row is of one statement that the database has an id for. */
static bool is_statement(const struct frame *rows, size_t row)
{
    return rows->entities[row].name[0] != '(';
}

/* Returns whether the rows are parts of sessions by blocker, among which lengths are not divided. A
 * recording of sessions has whole ones in each group. */
static bool is_by_blocker(const struct top *top)
{
    const char *group = top_group_name(top, top->group);
    const char *division =
        from_group_division(top->facts.live && group != NULL ? group : top->facts.kind);

    return division != NULL && (strcmp(division, SOURCE_LABEL_BLOCKER) == 0 ||
                                strcmp(division, SOURCE_LABEL_ROOT_BLOCKER) == 0);
}

static struct cell cell_of_waits(const struct top *top, const struct frame *rows, size_t row,
                                 enum session_column column)
{
    const struct wait_lengths lengths = wait_lengths_of_row(rows, row);

    if (is_by_blocker(top))
        return cell_unknown();
    if (column == WAITS)
        return cell_natural(lengths.count);
    if (lengths.count == 0)
        return cell_unknown();
    if (column == WAITS_MAX_ID)
        return cell_natural(value_of(rows, row, columns[column].counter));
    return cell_real((double)(column == WAITS_P50   ? lengths.p50_ns
                              : column == WAITS_P99 ? lengths.p99_ns
                                                    : lengths.longest_ns) /
                     NS_PER_MS);
}

static struct cell cell_of(const struct top *top, const struct frame *rows, size_t row,
                           enum session_column column)
{
    const uint64_t interval = rows->end_ns - rows->start_ns;
    const uint64_t elapsed = rows->elapsed_ns[row];
    const uint64_t whole =
        top->style.percent_of == PERCENT_OF_ROW || interval == 0 ? elapsed : interval;
    const double reported = (double)value_of(rows, row, "reported_planning_ns") +
                            (double)value_of(rows, row, columns[REPORTED].counter);

    if (column >= WAITS)
        return cell_of_waits(top, rows, row, column);
    if (column != IN_TRANSACTION && !is_statement(rows, row))
        return cell_unknown();
    if (column == CALLS)
        return cell_natural(value_of(rows, row, columns[column].counter));
    if (whole == 0 || !has_counter(rows->schema, column))
        return cell_unknown();
    if (column == IN_TRANSACTION)
        return cell_real(100 * (double)value_of(rows, row, columns[column].counter) /
                         (double)whole);
    return cell_real(100 * (column == REPORTED ? reported : (double)elapsed - reported) /
                     (double)whole);
}

static void fill_extra(void *context, const struct frame *rows, size_t row, struct cell *ret)
{
    const struct top *top = context;

    for (size_t i = 0; i < top->style.extra_count; i++) {
        enum session_column column = IN_TRANSACTION;

        while (strcmp(columns[column].field.title, top->style.extra[i].title) != 0)
            column++;
        ret[i] = cell_of(top, rows, row, column);
    }
}

static void fill_more(void *context, const struct frame *rows, size_t row, struct cell *ret)
{
    const struct wait_lengths lengths = wait_lengths_of_row(rows, row);
    const bool is_known = lengths.count > 0 && !is_by_blocker(context);

    ret[0] = is_known ? cell_natural(lengths.p50_ns) : cell_unknown();
    ret[1] = is_known ? cell_natural(lengths.p99_ns) : cell_unknown();
}

/* The longest wait is unknown if none has ended. */
static bool is_known(void *context, const struct frame *rows, size_t row, size_t column)
{
    const size_t longest = rows->schema->longest;

    if ((rows->entities[row].flags & ENTITY_UNTHROTTLED) != 0 &&
        strcmp(rows->schema->columns[column].name, COLUMN_THROTTLED) == 0)
        return false;
    if (strncmp(rows->schema->columns[column].name, WAITS_COLUMN, strlen(WAITS_COLUMN)) == 0 &&
        is_by_blocker(context))
        return false;
    return longest == 0 || column < longest || column >= longest + LONGEST_COLUMNS ||
           frame_values(rows, row)[longest] > 0;
}

static bool is_shown(const struct top *top, enum session_column column)
{
    return has_counter(top->source->describe(top->source), column) &&
           (column == IN_TRANSACTION || column >= WAITS || is_by_statement(top));
}

void top_sessions_use_columns(struct top *top)
{
    const struct schema *schema = top->source->describe(top->source);
    size_t count = 0;

    if (top->style.fill_extra != NULL && top->style.fill_extra != fill_extra)
        return; /* --why has columns of its own. */
    for (enum session_column i = IN_TRANSACTION; i < SESSION_COLUMNS && count < FRAME_MORE_MOST;
         i++) {
        if (is_shown(top, i))
            top->session_fields[count++] = columns[i].field;
    }
    top->style.extra = count > 0 ? top->session_fields : NULL;
    top->style.extra_count = count;
    top->style.fill_extra = count > 0 ? fill_extra : NULL;
    top->style.is_known = is_known;
    if (schema->longest == 0)
        return;
    top->style.more = more_fields;
    top->style.more_count = ARRAY_COUNT(more_fields);
    top->style.fill_more = fill_more;
}
