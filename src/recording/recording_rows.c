/* Reads the rows of an interval. Idle rows that the file leaves out are made from the rows of the
 * previous interval. The rows in the file and those of the previous interval are sorted by entity
 * number, so the reader merges them. */
#include "counters/error.h"
#include "ledger/array.h"
#include "recording_inside.h"

#include <stdlib.h>
#include <string.h>

/* 146 years. Differences of two such times are in the range of int64_t. */
#define TIME_MOST_NS (INT64_MAX / 2)

static int is_damaged(const struct recording_table *table, int64_t tick, const char *what,
                      struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s is damaged: interval %lld of '%s' has %s",
                     table->path, (long long)tick, table->name, what);
}

static int not_a_number(const struct recording_table *table, sqlite3_stmt *statement, int column,
                        struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0,
                     "%s: '%s' of '%s' has a value that is not a whole number", table->path,
                     sqlite3_column_name(statement, column), table->name);
}

/* Reads an integer; NULL counts as 0. */
static int read_number(const struct recording_table *table, sqlite3_stmt *statement, int column,
                       int64_t *ret, struct camp_error *error)
{
    sqlite3_value *value = sqlite3_column_value(statement, column);
    const int type = sqlite3_value_type(value);

    *ret = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;
    return type == SQLITE_INTEGER || type == SQLITE_NULL
               ? CAMP_OK
               : not_a_number(table, statement, column, error);
}

static struct entity *add_row(struct recording_rows *interval, struct recording_row row)
{
    struct entity *entity = frame_add(&interval->frame);

    if (entity == NULL ||
        !ARRAY_RESERVE(interval->rows, interval->capacity, interval->frame.entity_count))
        return NULL;
    interval->rows[interval->frame.entity_count - 1] = row;
    return entity;
}

/* The labels are used in this interval, too. */
static void keep_identity(struct entity *ret, const struct entity *before)
{
    *ret = *before;
    labels_count(ret->labels);
}

/* If row at_before of the previous interval is idle, adds this row to `interval`. The time of the
 * new row comes from the length of `interval`. */
static int restore_row(struct recording_rows *interval, const struct recording_rows *before,
                       size_t at_before)
{
    const struct recording_row row = before->rows[at_before];
    const struct schema *schema = before->frame.schema;
    struct frame *frame = &interval->frame;
    const size_t at = frame->entity_count;
    struct entity *entity;

    if (row.idle.state < 0)
        return CAMP_OK;
    entity = add_row(interval, row);
    if (entity == NULL)
        return CAMP_E_NOMEM;
    keep_identity(entity, &before->frame.entities[at_before]);
    frame->elapsed_ns[at] = (frame->end_ns - frame->start_ns) * row.idle.times;
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        if (schema->columns[i].kind == COLUMN_GAUGE)
            frame_values(frame, at)[i] = frame_values(&before->frame, at_before)[i];
        else if (idle_row_repeats(row.idle, i))
            frame_values(frame, at)[i] = frame->elapsed_ns[at];
    }
    if (schema->state_count > 0)
        frame_values(frame, at)[row.idle.state] = frame->elapsed_ns[at];
    return CAMP_OK;
}

static int read_identity(struct recording_table *table, int64_t tick, uint32_t number,
                         struct entity *ret, struct camp_error *error)
{
    sqlite3_stmt *statement = table->identity;
    const char *name;
    int r;

    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_int64(statement, 2, tick);
    r = sqlite3_step(statement);
    if (r == SQLITE_ROW) {
        name = (const char *)sqlite3_column_text(statement, 0);
        *ret = (struct entity){
            .id = sqlite3_column_int64(statement, 1),
            .pid = (int32_t)sqlite3_column_int64(statement, 2),
            .parent = (int32_t)sqlite3_column_int64(statement, 3),
            .uid = (uint32_t)sqlite3_column_int64(statement, 4),
            .cgroup = (uint64_t)sqlite3_column_int64(statement, 5),
            .flags = sqlite3_column_int(statement, 6) != 0 ? ENTITY_KERNEL : 0,
        };
        strncpy(ret->name, name != NULL ? name : "", sizeof ret->name - 1);
        sqlite3_reset(statement);
        return recording_labels_read(table, tick, number, &ret->labels, error);
    }
    sqlite3_reset(statement);
    if (r != SQLITE_DONE)
        return recording_failed(table->database, table->path, error);
    return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no name for entity %u", table->path, number);
}

/* Copies the values in the current row of `statement` to the last row of the frame. */
static int read_part(const struct recording_table *table, sqlite3_stmt *statement,
                     struct frame *frame, struct camp_error *error)
{
    const size_t at = frame->entity_count - 1, count = table->schema.column_count;
    uint64_t *values = frame_values(frame, at);
    int64_t number;
    int r = CAMP_OK;

    for (size_t i = 0; i < count + RECORDING_EXTRA_COUNT && r == CAMP_OK; i++) {
        if (table->places[i].statement != statement)
            continue;
        r = read_number(table, statement, table->places[i].column, &number, error);
        if (i < count)
            values[i] = (uint64_t)number;
        else if (i == count + RECORDING_COUNT && (number < 0 || number > UINT32_MAX))
            r = not_a_number(table, statement, table->places[i].column, error);
        else if (i == count + RECORDING_COUNT)
            frame->entities[at].count = (uint32_t)number;
        else
            frame->elapsed_ns[at] = (uint64_t)number;
    }
    return r;
}

struct merge {
    int64_t tick;
    bool key;
    int64_t last;                 /* the entity of the last row of table->rows, or 0 */
    int64_t first_row, row_count; /* of the interval, if table->has_row_numbers */
    struct recording_rows *now;
    const struct recording_rows *before;
    size_t at; /* index in before->rows */
    /* The number of the current row of table->seldom; INT64_MAX if there are no more rows. */
    int64_t seldom;
};

/* Reads the row of table->seldom that belongs to the current row of table->rows, if there is one.
 */
static int read_seldom(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    int64_t number;
    int stepped = SQLITE_ROW, r = read_number(table, table->rows, 0, &number, error);

    while (r == CAMP_OK && merge->seldom < number && stepped == SQLITE_ROW) {
        stepped = sqlite3_step(table->seldom);
        if (stepped == SQLITE_ROW)
            r = read_number(table, table->seldom, 0, &merge->seldom, error);
    }
    if (stepped == SQLITE_DONE)
        merge->seldom = INT64_MAX;
    else if (stepped != SQLITE_ROW)
        r = recording_failed(table->database, table->path, error);
    return r == CAMP_OK && merge->seldom == number
               ? read_part(table, table->seldom, &merge->now->frame, error)
               : r;
}

static int read_values(struct recording_table *table, struct merge *merge, int64_t flags,
                       struct camp_error *error)
{
    struct frame *frame = &merge->now->frame;
    const size_t at = frame->entity_count - 1;
    int r = read_part(table, table->rows, frame, error);

    if (r == CAMP_OK)
        r = read_seldom(table, merge, error);
    for (size_t i = table->schema.state_count; i < table->schema.column_count; i++) {
        if (table->wholes[i] >= 0)
            frame_values(frame, at)[table->wholes[i]] += frame_values(frame, at)[i];
    }
    for (size_t i = 0; i < table->schema.state_count; i++) {
        frame->elapsed_ns[at] += frame_values(frame, at)[i];
        if (table->wholes[i] >= 0)
            frame_values(frame, at)[table->wholes[i]] += frame_values(frame, at)[i];
    }
    if ((flags & RECORDING_IDLE) != 0)
        merge->now->rows[at].idle = idle_row_of(frame, at);
    return r;
}

static int restore_until(struct merge *merge, uint32_t number)
{
    int r = CAMP_OK;

    for (; r == CAMP_OK && merge->at < merge->before->frame.entity_count &&
           merge->before->rows[merge->at].number < number;
         merge->at++) {
        if (!merge->key)
            r = restore_row(merge->now, merge->before, merge->at);
    }
    return r;
}

/* Adds a row for an entity. If `before` is NULL or the entity's identity has changed, reads the
 * identity from the file; otherwise copies it from `before`. */
static int identify(struct recording_table *table, struct merge *merge, uint32_t number,
                    int64_t flags, const struct entity *before, struct camp_error *error)
{
    struct entity *entity = add_row(merge->now, (struct recording_row){ number, not_idle });
    int r = CAMP_OK;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    if (before != NULL && (flags & RECORDING_CHANGED) == 0)
        keep_identity(entity, before);
    else
        r = read_identity(table, merge->tick, number, entity, error);
    entity->count = 1;
    entity->flags = (entity->flags & ENTITY_KERNEL) |
                    ((uint32_t)flags & (RECORDING_NEW | RECORDING_ENDED | RECORDING_UNTHROTTLED));
    return r;
}

static int read_row(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    const struct recording_rows *before = merge->before;
    const struct entity *known = NULL;
    int64_t number, flags;
    int r = read_number(table, table->rows, 1, &number, error);

    if (r == CAMP_OK && (number < 1 || number > UINT32_MAX))
        r = is_damaged(table, merge->tick, "an impossible entity", error);
    if (r == CAMP_OK && number <= merge->last)
        r = is_damaged(table, merge->tick, "an entity twice", error);
    merge->last = number;
    if (r == CAMP_OK)
        r = read_number(table, table->rows, 2, &flags, error);
    if (r == CAMP_OK)
        r = restore_until(merge, (uint32_t)number);
    if (r != CAMP_OK)
        return r;
    if (merge->at < before->frame.entity_count && before->rows[merge->at].number == number)
        known = &before->frame.entities[merge->at++];
    if ((flags & RECORDING_GONE) != 0)
        return CAMP_OK;
    r = identify(table, merge, (uint32_t)number, flags, known, error);
    return r == CAMP_OK ? read_values(table, merge, flags, error) : r;
}

/* The columns of an interval that follow its number. The last two are there if rows have numbers.
 */
enum tick_column {
    TICK_START,
    TICK_END,
    TICK_WALL_CLOCK,
    TICK_LOSSES,
    TICK_IS_KEY = TICK_LOSSES + 4,
    TICK_FIRST_ROW,
    TICK_ROW_COUNT,
    TICK_COLUMN_COUNT
};

static int read_tick(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    struct frame *frame = &merge->now->frame;
    int64_t numbers[TICK_COLUMN_COUNT] = { 0 };
    const int count = table->has_row_numbers ? TICK_COLUMN_COUNT : TICK_FIRST_ROW;
    int stepped, r = CAMP_OK;

    sqlite3_bind_int64(table->tick, 1, merge->tick);
    stepped = sqlite3_step(table->tick);
    table->is_there = stepped == SQLITE_ROW;
    for (int i = 0; table->is_there && r == CAMP_OK && i < count; i++)
        r = read_number(table, table->tick, i + 1, &numbers[i], error);
    if (stepped != SQLITE_ROW && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    sqlite3_reset(table->tick);
    if (r != CAMP_OK || !table->is_there)
        return r;
    if (numbers[TICK_START] < 0 || numbers[TICK_END] < numbers[TICK_START] ||
        numbers[TICK_END] > TIME_MOST_NS || numbers[TICK_WALL_CLOCK] < -TIME_MOST_NS ||
        numbers[TICK_WALL_CLOCK] > TIME_MOST_NS)
        return is_damaged(table, merge->tick, "impossible times", error);
    if (numbers[TICK_FIRST_ROW] < 0 || numbers[TICK_ROW_COUNT] < 0 ||
        numbers[TICK_FIRST_ROW] > INT64_MAX - numbers[TICK_ROW_COUNT])
        return is_damaged(table, merge->tick, "impossible numbers of rows", error);
    frame->start_ns = (uint64_t)numbers[TICK_START];
    frame->end_ns = (uint64_t)numbers[TICK_END];
    frame->wall_clock_ns = numbers[TICK_WALL_CLOCK];
    frame->losses =
        (struct losses){ (uint64_t)numbers[TICK_LOSSES], (uint64_t)numbers[TICK_LOSSES + 1],
                         (uint64_t)numbers[TICK_LOSSES + 2], (uint64_t)numbers[TICK_LOSSES + 3] };
    merge->key = numbers[TICK_IS_KEY] != 0;
    merge->first_row = numbers[TICK_FIRST_ROW];
    merge->row_count = numbers[TICK_ROW_COUNT];
    return CAMP_OK;
}

/* Lets a statement of prepare_rows() read the rows of the interval. */
static void bind_rows(const struct merge *merge, sqlite3_stmt *statement)
{
    sqlite3_bind_int64(statement, 1, merge->tick);
    sqlite3_bind_int64(statement, 2, merge->first_row);
    sqlite3_bind_int64(statement, 3, merge->first_row + merge->row_count);
}

static int read_rows(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    int stepped = SQLITE_DONE, r = CAMP_OK;
    int64_t count = 0;

    bind_rows(merge, table->rows);
    if (table->seldom != NULL)
        bind_rows(merge, table->seldom);
    for (; r == CAMP_OK && (stepped = sqlite3_step(table->rows)) == SQLITE_ROW; count++)
        r = read_row(table, merge, error);
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    if (r == CAMP_OK && table->has_row_numbers && count != merge->row_count)
        r = is_damaged(table, merge->tick, "not all its rows", error);
    if (r == CAMP_OK)
        r = restore_until(merge, UINT32_MAX);
    frame_count_lost_labels(&merge->now->frame);
    sqlite3_reset(table->rows);
    sqlite3_reset(table->seldom);
    return r;
}

int recording_table_read(struct recording_table *table, int64_t tick, struct camp_error *error)
{
    struct merge merge = { .tick = tick,
                           .now = &table->intervals[!table->now],
                           .before = &table->intervals[table->now],
                           .seldom = table->seldom != NULL ? 0 : INT64_MAX };
    int r;

    frame_clear(&merge.now->frame);
    r = read_tick(table, &merge, error);
    if (r != CAMP_OK || !table->is_there)
        /* `now` is not switched: the next interval that is in the file restores the idle rows of
         * the interval before this one. */
        return r;
    table->now = !table->now;
    return read_rows(table, &merge, error);
}
