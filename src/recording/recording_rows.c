/*
 * The rows of an interval: those that are in the file, and between them, given back, those that
 * rest as they did in the interval before. Both are in the order of their entities' numbers, so
 * they are merged as they come, and only two frames are held.
 */
#include "counters/error.h"
#include "ledger/array.h"
#include "recording_inside.h"

#include <stdlib.h>
#include <string.h>

/* A column's number. False: it has something else. */
static bool number_of(sqlite3_stmt *statement, int column, int64_t *ret)
{
    sqlite3_value *value = sqlite3_column_value(statement, column);
    const int type = sqlite3_value_type(value);

    *ret = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;
    return type == SQLITE_INTEGER || type == SQLITE_NULL;
}

static int not_a_number(const struct recording_table *table, sqlite3_stmt *statement, int column,
                        struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0,
                     "%s: '%s' of '%s' has a value that is not a whole number", table->path,
                     sqlite3_column_name(statement, column), table->name);
}

/* ------------------------------------------------------------------------------- One row -- */

static struct frame *frame_of(struct recording_table *table)
{
    return &table->frames[table->now];
}

/* A further row of this interval; NULL: no memory. */
static struct entity *add_row(struct recording_table *table, uint32_t number, struct rest rest)
{
    struct frame *frame = frame_of(table);
    struct recording_row **facts = &table->row_facts[table->now];
    struct entity *entity = frame_add(frame);

    if (entity == NULL)
        return NULL;
    if (!ARRAY_RESERVE(*facts, table->row_capacity[table->now], frame->entity_count))
        return NULL;
    (*facts)[frame->entity_count - 1] = (struct recording_row){ number, rest };
    return entity;
}

/* A row of the interval before that rests, as it is in this one. */
static int give_back(struct recording_table *table, size_t before)
{
    const struct frame *old = &table->frames[!table->now];
    const struct recording_row facts = table->row_facts[!table->now][before];
    const struct schema *schema = &table->schema;
    struct frame *frame = frame_of(table);
    struct entity *entity;
    size_t at;

    if (facts.rest.state < 0)
        return CAMP_OK;
    entity = add_row(table, facts.number, facts.rest);
    if (entity == NULL)
        return CAMP_E_NOMEM;
    *entity = old->entities[before];
    at = frame->entity_count - 1;
    frame->elapsed_ns[at] = rest_elapsed_ns(frame, facts.rest);
    for (size_t i = schema->state_count; i < schema->column_count; i++) {
        if (schema->columns[i].kind == COLUMN_GAUGE)
            frame_values(frame, at)[i] = frame_values(old, before)[i];
        else if (rest_has_again(facts.rest, i))
            frame_values(frame, at)[i] = frame->elapsed_ns[at];
    }
    if (schema->state_count > 0)
        frame_values(frame, at)[facts.rest.state] = frame->elapsed_ns[at];
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

static int read_values(struct recording_table *table, sqlite3_stmt *statement, bool seldom,
                       struct camp_error *error)
{
    struct frame *frame = frame_of(table);
    const size_t at = frame->entity_count - 1, count = table->schema.column_count;
    uint64_t *values = frame_values(frame, at);
    int64_t number;

    for (size_t i = 0; i < count + RECORDING_EXTRA_COUNT; i++) {
        if (table->places[i].seldom != seldom)
            continue;
        if (!number_of(statement, table->places[i].at, &number))
            return not_a_number(table, statement, table->places[i].at, error);
        if (i < count)
            values[i] = (uint64_t)number;
        else if (i == count + RECORDING_COUNT)
            frame->entities[at].count = (uint32_t)number;
        else
            frame->elapsed_ns[at] = (uint64_t)number;
    }
    return CAMP_OK;
}

/* The row's elapsed_ns is its unaccounted time until here. */
static struct rest settle_row(struct recording_table *table, int64_t flags)
{
    struct frame *frame = frame_of(table);
    const size_t at = frame->entity_count - 1;
    const uint64_t *values = frame_values(frame, at);

    for (size_t i = 0; i < table->schema.state_count; i++)
        frame->elapsed_ns[at] += values[i];
    return (flags & RECORDING_REST) != 0 ? rest_of(frame, at) : (struct rest){ .state = -1 };
}

/* ------------------------------------------------------------------------------ An interval -- */

/* Where the reading of an interval is. */
struct merge {
    int64_t tick;
    bool key;
    size_t before;     /* in the interval before */
    bool seldom_there; /* the statement stands on a row */
    uint32_t seldom_number;
};

static int step_seldom(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    int r = sqlite3_step(table->seldom);

    merge->seldom_there = r == SQLITE_ROW;
    if (r == SQLITE_ROW)
        merge->seldom_number = (uint32_t)sqlite3_column_int64(table->seldom, 0);
    return r == SQLITE_ROW || r == SQLITE_DONE
               ? CAMP_OK
               : recording_failed(table->database, table->path, error);
}

static int give_back_until(struct recording_table *table, struct merge *merge, uint32_t number)
{
    const struct frame *old = &table->frames[!table->now];
    const struct recording_row *facts = table->row_facts[!table->now];
    int r = CAMP_OK;

    for (;
         r == CAMP_OK && merge->before < old->entity_count && facts[merge->before].number < number;
         merge->before++) {
        if (!merge->key)
            r = give_back(table, merge->before);
    }
    return r;
}

/* Who it is: as before, or as the file says. */
static int identify(struct recording_table *table, struct merge *merge, uint32_t number,
                    int64_t flags, struct camp_error *error)
{
    const struct frame *old = &table->frames[!table->now];
    struct entity *entity = add_row(table, number, (struct rest){ .state = -1 });
    const bool known = merge->before < old->entity_count &&
                       table->row_facts[!table->now][merge->before].number == number;
    int r = CAMP_OK;

    if (entity == NULL)
        return CAMP_E_NOMEM;
    if (known && (flags & RECORDING_CHANGED) == 0)
        *entity = old->entities[merge->before];
    else
        r = read_identity(table, merge->tick, number, entity, error);
    merge->before += known;
    entity->count = 1;
    entity->flags =
        (entity->flags & ENTITY_KERNEL) | ((uint32_t)flags & (RECORDING_NEW | RECORDING_ENDED));
    return r;
}

static int read_row(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    int64_t number, flags;
    int r;

    if (!number_of(table->rows, 0, &number) || number < 1 || number > UINT32_MAX)
        return not_a_number(table, table->rows, 0, error);
    if (!number_of(table->rows, 1, &flags))
        return not_a_number(table, table->rows, 1, error);
    r = give_back_until(table, merge, (uint32_t)number);
    if (r == CAMP_OK && (flags & RECORDING_GONE) != 0) {
        r = CAMP_OK;
        merge->before += merge->before < table->frames[!table->now].entity_count &&
                         table->row_facts[!table->now][merge->before].number == number;
        return r;
    }
    if (r == CAMP_OK)
        r = identify(table, merge, (uint32_t)number, flags, error);
    if (r == CAMP_OK)
        r = read_values(table, table->rows, false, error);
    while (r == CAMP_OK && merge->seldom_there && merge->seldom_number < number)
        r = step_seldom(table, merge, error);
    if (r == CAMP_OK && merge->seldom_there && merge->seldom_number == number)
        r = read_values(table, table->seldom, true, error);
    if (r == CAMP_OK)
        table->row_facts[table->now][frame_of(table)->entity_count - 1].rest =
            settle_row(table, flags);
    return r;
}

/* The interval itself; `there` is false when it has no row. */
static int read_tick(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    struct frame *frame = frame_of(table);
    int64_t numbers[8];
    int r;

    sqlite3_bind_int64(table->tick, 1, merge->tick);
    r = sqlite3_step(table->tick);
    table->there = r == SQLITE_ROW;
    for (int i = 0; r == SQLITE_ROW && i < 8; i++) {
        if (!number_of(table->tick, i + 1, &numbers[i])) {
            sqlite3_reset(table->tick);
            return not_a_number(table, table->tick, i + 1, error);
        }
    }
    sqlite3_reset(table->tick);
    if (r != SQLITE_ROW)
        return r == SQLITE_DONE ? CAMP_OK : recording_failed(table->database, table->path, error);
    frame->start_ns = (uint64_t)numbers[0];
    frame->end_ns = (uint64_t)numbers[1];
    frame->wall_clock_ns = numbers[2];
    frame->losses = (struct losses){ (uint64_t)numbers[3], (uint64_t)numbers[4],
                                     (uint64_t)numbers[5], (uint64_t)numbers[6] };
    merge->key = numbers[7] != 0;
    return CAMP_OK;
}

static int read_rows(struct recording_table *table, struct merge *merge, struct camp_error *error)
{
    int stepped = SQLITE_DONE, r = CAMP_OK;

    sqlite3_bind_int64(table->rows, 1, merge->tick);
    if (table->seldom != NULL) {
        sqlite3_bind_int64(table->seldom, 1, merge->tick);
        r = step_seldom(table, merge, error);
    }
    while (r == CAMP_OK && (stepped = sqlite3_step(table->rows)) == SQLITE_ROW)
        r = read_row(table, merge, error);
    if (r == CAMP_OK && stepped != SQLITE_DONE)
        r = recording_failed(table->database, table->path, error);
    if (r == CAMP_OK)
        r = give_back_until(table, merge, UINT32_MAX);
    sqlite3_reset(table->rows);
    sqlite3_reset(table->seldom);
    return r;
}

int recording_table_read(struct recording_table *table, int64_t tick, struct camp_error *error)
{
    struct merge merge = { .tick = tick };
    int r;

    table->now = !table->now;
    frame_clear(frame_of(table));
    r = read_tick(table, &merge, error);
    if (r == CAMP_OK && table->there)
        return read_rows(table, &merge, error);
    table->now = !table->now; /* what rested before goes on later */
    return r;
}
