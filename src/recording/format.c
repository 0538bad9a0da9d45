#include "format.h"

#include <stdlib.h>
#include <string.h>

const char *const recording_kinds[3] = { "state", "counter", "gauge" };
const char *const recording_fact_names[RECORDING_FACT_COUNT] = {
    "source", "kind",  "tier",   "host", "kernel",      "version",
    "schema", "table", "beside", "note", "interval_ns", "server_cpus",
};
const struct idle_row not_idle = { .state = -1 };

#define FEWEST_COLUMNS 12 /* With fewer columns there is no second table (NAME_seldom). */
#define COLUMNS_MOST 256  /* With more columns there is no second table (NAME_seldom). */
#define REPEATED_COLUMNS 64
/* A row of the second table (NAME_seldom) costs this many bytes in addition to its columns. */
#define SECOND_ROW_BYTES 20u

/* Returns the index of the state that has all the time of the row, or -1 if there is none. Returns
 * 0 if the schema has no states. */
static int32_t whole_state(const struct frame *frame, size_t row)
{
    const struct filled_columns states = frame_filled_states(frame, row);
    int32_t whole = frame->schema->state_count > 0 ? -1 : 0;

    for (size_t i = states.first; i < states.end; i++) {
        const uint64_t value = states.values[i - states.first];

        if (value == 0)
            continue;
        if (whole >= 0 || value != frame->elapsed_ns[row])
            return -1;
        whole = (int32_t)i;
    }
    return whole;
}

/* Returns whether the column is a time, which may set its bit in idle_row.repeated. A count may
 * not: it would equal the time of the row only by chance. */
static bool is_time_counter(const struct schema *schema, size_t column)
{
    const char *name = schema->columns[column].name;
    const size_t length = strlen(name);

    return schema->state_count > 0 && column < REPEATED_COLUMNS && length > 3 &&
           strcmp(name + length - 3, "_ns") == 0;
}

struct idle_row idle_row_of(const struct frame *frame, size_t row)
{
    const struct schema *schema = frame->schema;
    const uint64_t *values = frame_values(frame, row);
    const uint64_t wall_ns = frame->end_ns - frame->start_ns;
    const size_t end = frame_filled_columns(frame, row).end;
    struct idle_row idle = { .state = whole_state(frame, row) };

    if (idle.state >= 0)
        idle.times = frame_times(frame->elapsed_ns[row], wall_ns);
    if (idle.times == 0)
        return not_idle;
    for (size_t i = schema->state_count; i < end; i++) {
        if (values[i] == 0 || schema->columns[i].kind == COLUMN_GAUGE)
            continue;
        if (!is_time_counter(schema, i) || frame_times(values[i], wall_ns) != idle.times)
            return not_idle;
        idle.repeated |= UINT64_C(1) << i;
    }
    return idle;
}

bool idle_row_repeats(struct idle_row idle, size_t column)
{
    return column < REPEATED_COLUMNS && (idle.repeated >> column & 1) != 0;
}

/* Returns whether the counter is named after the state: idle_client_ns after idle_ns. */
static bool is_part(const char *counter, const char *state)
{
    static const char unit[] = "_ns";
    const size_t stem = strlen(state) - strlen(unit), length = strlen(counter);

    return strncmp(counter, state, stem) == 0 && counter[stem] == '_' &&
           length > stem + strlen(unit) && strcmp(counter + length - strlen(unit), unit) == 0;
}

/* Finds the counters that are parts of states. */
static void find_counters(const struct schema *schema, struct recording_parts *ret)
{
    for (size_t state = 0; state < schema->state_count; state++) {
        struct recording_parts parts = { schema->state_count, schema->state_count };

        if (strlen(schema->columns[state].name) <= strlen("_ns"))
            continue;
        while (parts.first < schema->column_count &&
               !is_part(schema->columns[parts.first].name, schema->columns[state].name))
            parts.first++;
        parts.end = parts.first;
        while (parts.end < schema->column_count &&
               schema->columns[parts.end].kind == COLUMN_COUNTER &&
               is_part(schema->columns[parts.end].name, schema->columns[state].name))
            parts.end++;
        ret[state] = parts;
    }
}

/* Returns the bytes of an integer in SQLite's record format. */
static int bytes_of(uint64_t value)
{
    const int64_t number = (int64_t)value;
    const int64_t size = number < 0 ? ~number : number;

    return value <= 1                ? 0
           : size <= INT8_MAX        ? 1
           : size <= INT16_MAX       ? 2
           : size < 1 << 23          ? 3
           : size <= INT32_MAX       ? 4
           : size < INT64_C(1) << 47 ? 6
                                     : 8;
}

/* Returns whether the counter less the state takes less space than the counter in the rows. */
static bool is_shorter_less(const struct frame *frame, size_t counter, size_t state)
{
    int saved = 0;

    for (size_t row = 0; row < frame->entity_count; row++) {
        const uint64_t *values = frame_values(frame, row);

        if (idle_row_of(frame, row).state < 0)
            saved += bytes_of(values[counter]) - bytes_of(values[counter] - values[state]);
    }
    return saved > 0;
}

void recording_find_parts(const struct frame *frame, struct recording_parts *ret)
{
    static const char reported[] = "reported_";
    const struct schema *schema = frame->schema;

    memset(ret, 0, (schema->column_count + RECORDING_EXTRA_COUNT) * sizeof *ret);
    find_counters(schema, ret);
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        const char *name = schema->columns[i].name;

        if (schema->columns[i].kind != COLUMN_COUNTER ||
            strncmp(name, reported, strlen(reported)) != 0)
            continue;
        for (size_t state = 0; state < schema->state_count; state++) {
            if (strcmp(name + strlen(reported), schema->columns[state].name) == 0 &&
                is_shorter_less(frame, i, state))
                ret[i] = (struct recording_parts){ state, state + 1 };
        }
    }
}

uint64_t recording_value(const struct frame *frame, size_t row, size_t column,
                         const struct recording_parts *parts)
{
    const size_t count = frame->schema->column_count;
    const uint64_t *values = frame_values(frame, row);
    uint64_t ret;

    if (column == count + RECORDING_COUNT)
        return frame->entities[row].count;
    if (column == count + RECORDING_UNACCOUNTED)
        return (uint64_t)frame_unaccounted_ns(frame, row);
    ret = values[column];
    for (size_t i = parts[column].first; i < parts[column].end; i++)
        ret -= values[i];
    return ret;
}

uint64_t recording_usual(const struct schema *schema, size_t column)
{
    return column == schema->column_count + RECORDING_COUNT;
}

struct tally {
    size_t column, rows;
};

static int compare_tallies(const void *a, const void *b)
{
    const struct tally *left = a, *right = b;

    if (left->rows != right->rows)
        return left->rows < right->rows ? -1 : 1;
    return left->column < right->column ? -1 : left->column > right->column;
}

/* Returns the number of rows that are not idle. Sets tallies[i].rows to the number of those rows in
 * which column i differs from recording_usual(). */
static size_t count_rows(const struct frame *frame, const struct recording_parts *parts,
                         struct tally *tallies, size_t columns)
{
    size_t rows = 0;

    for (size_t i = 0; i < columns; i++)
        tallies[i] = (struct tally){ i, 0 };
    for (size_t row = 0; row < frame->entity_count; row++) {
        if (idle_row_of(frame, row).state >= 0)
            continue;
        rows++;
        for (size_t i = 0; i < columns; i++)
            tallies[i].rows +=
                recording_value(frame, row, i, parts) != recording_usual(frame->schema, i);
    }
    return rows;
}

/* Considers rows that are not idle, and in each row the columns in the order of `tallies`. Fills
 * firsts[k] with the number of rows in which tallies[k].column is the first that differs from
 * recording_usual(). */
static void count_firsts(const struct frame *frame, const struct recording_parts *parts,
                         const struct tally *tallies, size_t columns, size_t *firsts)
{
    for (size_t row = 0; row < frame->entity_count; row++) {
        if (idle_row_of(frame, row).state >= 0)
            continue;
        for (size_t k = 0; k < columns; k++) {
            if (recording_value(frame, row, tallies[k].column, parts) !=
                recording_usual(frame->schema, tallies[k].column)) {
                firsts[k]++;
                break;
            }
        }
    }
}

/* Moving the first k columns of `tallies` to NAME_seldom saves k bytes in each row of NAME_rows. It
 * costs a row of NAME_seldom for each row in which one of these k columns differs from
 * recording_usual(). */
void recording_plan(const struct frame *frame, const struct recording_parts *parts,
                    bool *ret_seldom)
{
    const size_t columns = frame->schema->column_count + RECORDING_EXTRA_COUNT;
    struct tally tallies[COLUMNS_MOST + RECORDING_EXTRA_COUNT];
    size_t firsts[COLUMNS_MOST + RECORDING_EXTRA_COUNT] = { 0 };
    size_t rows, second_rows = 0, best = 0;
    uint64_t most_saved = 0;

    memset(ret_seldom, 0, columns * sizeof *ret_seldom);
    if (frame->schema->column_count < FEWEST_COLUMNS || frame->schema->column_count > COLUMNS_MOST)
        return;
    rows = count_rows(frame, parts, tallies, columns);
    qsort(tallies, columns, sizeof *tallies, compare_tallies);
    count_firsts(frame, parts, tallies, columns, firsts);
    for (size_t k = 1; k <= columns; k++) {
        const uint64_t saved = (uint64_t)k * rows;
        uint64_t cost;

        second_rows += firsts[k - 1];
        cost = (uint64_t)second_rows * (SECOND_ROW_BYTES + k);
        if (saved > cost && saved - cost > most_saved) {
            most_saved = saved - cost;
            best = k;
        }
    }
    for (size_t k = 0; k < best; k++)
        ret_seldom[tallies[k].column] = true;
}
