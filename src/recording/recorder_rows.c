/*
 * Which rows of a frame are written, and their writing. Left out is what rests as the last row of
 * its entity said; all rows are written at a key tick. Rows go in by the numbers of their entities,
 * so that the table grows at its end and its pages are full.
 *
 * An id may be there twice in a frame: who had it has ended, and another has it now. The second is
 * written under a number of its own, for this interval only.
 */
#include "ledger/array.h"
#include "recorder_table.h"

#include <stdlib.h>
#include <string.h>

#define FORGET_ABOVE 1024 /* so many entities that are gone may be known */

/* -------------------------------------------------------------------------------- Growing -- */

static bool reserve_tracked(struct recorder_table *table)
{
    return ARRAYS_RESERVE(table->tracked_capacity, table->registry.count,
                          ARRAY_ZEROED(table->tracked),
                          ARRAY_ROWS(table->last_gauges, table->gauge_count));
}

static bool add_row(struct recorder_table *table, struct recorder_row row)
{
    if (!ARRAY_RESERVE(table->list, table->list_capacity, table->list_count + 1))
        return false;
    table->list[table->list_count++] = row;
    return true;
}

/* ---------------------------------------------------------------------------------- SQLite -- */

static int step(sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK ? CAMP_OK : CAMP_E_IO;
}

/* `labels`: what the file has already. */
static int write_identity(struct recorder_table *table, int64_t tick, uint32_t number,
                          const struct entity *entity, const struct labels *labels)
{
    sqlite3_stmt *statement = table->identity;
    int r;

    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_int64(statement, 2, tick);
    sqlite3_bind_int64(statement, 3, entity->id);
    sqlite3_bind_int64(statement, 4, entity->pid);
    sqlite3_bind_int64(statement, 5, entity->parent);
    sqlite3_bind_int64(statement, 6, entity->uid);
    sqlite3_bind_int64(statement, 7, (int64_t)entity->cgroup);
    sqlite3_bind_int64(statement, 8, (entity->flags & ENTITY_KERNEL) != 0);
    sqlite3_bind_text(statement, 9, entity->name, -1, SQLITE_STATIC);
    r = step(statement);
    sqlite3_clear_bindings(statement); /* the name is the frame's, which goes */
    return r == CAMP_OK ? recorder_labels_write(table, tick, number, labels, entity->labels) : r;
}

static int write_tick(struct recorder_table *table, int64_t tick, bool key,
                      const struct frame *frame)
{
    const uint64_t values[] = {
        (uint64_t)tick,
        frame->start_ns,
        frame->end_ns,
        (uint64_t)frame->wall_clock_ns,
        frame->losses.unseen,
        frame->losses.lost,
        frame->losses.unread_ns,
        frame->losses.partial,
        key,
    };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        sqlite3_bind_int64(table->tick, (int)i + 1, (int64_t)values[i]);
    return step(table->tick);
}

static bool has_seldom(const struct recorder_table *table, const struct recorder_row *row)
{
    const struct recorder_feed *feed = &table->seldom_rows;
    const size_t columns = table->schema->column_count;

    for (size_t i = 0; feed->insert != NULL && i < feed->count - 2; i++) {
        const size_t column = feed->columns[i];

        if (column < columns ? row->values[column] != 0
                             : recording_value(table->frame, row->row, column) !=
                                   recording_usual(table->schema, column))
            return true;
    }
    return false;
}

/* The list, of which SQLite fetches each row (recorder_feed.c). */
static int write_rows(struct recorder_table *table, int64_t tick, const struct frame *frame)
{
    int r;

    table->tick_number = tick;
    table->frame = frame;
    for (size_t i = 0; i < table->list_count; i++) {
        struct recorder_row *row = &table->list[i];

        row->values = row->row != SIZE_MAX ? frame_values(frame, row->row) : NULL;
        row->has_seldom = row->values != NULL && has_seldom(table, row);
    }
    r = step(table->rows.insert);
    return r == CAMP_OK && table->seldom_rows.insert != NULL ? step(table->seldom_rows.insert) : r;
}

/* -------------------------------------------------------------------------------- Deciding -- */

static bool gauges_stay(struct recorder_table *table, size_t at, const uint64_t *values)
{
    for (size_t i = 0; i < table->gauge_count; i++) {
        if (table->last_gauges[at * table->gauge_count + i] != values[table->gauges[i]])
            return false;
    }
    return true;
}

static void keep_gauges(struct recorder_table *table, size_t at, const uint64_t *values)
{
    for (size_t i = 0; i < table->gauge_count; i++)
        table->last_gauges[at * table->gauge_count + i] = values[table->gauges[i]];
}

/* Does the reader know this row without its being written? */
static bool goes_on(struct recorder_table *table, uint32_t at, const struct frame *frame,
                    size_t row, struct rest rest)
{
    const struct recorder_tracked *tracked = &table->tracked[at];

    return rest.state >= 0 && rest.state == tracked->rest.state &&
           rest.times == tracked->rest.times && rest.again == tracked->rest.again &&
           tracked->count == frame->entities[row].count &&
           gauges_stay(table, at, frame_values(frame, row));
}

/* From now on the id is that of this row: who had it before has ended. */
static void follow_twin(struct recorder_table *table, const struct frame *frame,
                        const struct recorder_row *twin)
{
    struct recorder_tracked *tracked = &table->tracked[twin->tracked];
    const struct entity *entity = &frame->entities[twin->row];

    tracked->number = twin->number;
    tracked->labels = entity->labels;
    tracked->kernel = (entity->flags & ENTITY_KERNEL) != 0;
    tracked->stale = false;
    tracked->rest = (struct rest){ .state = -1 };
    keep_gauges(table, twin->tracked, frame_values(frame, twin->row));
}

/* A second row of an id in the same frame. */
static int list_twin(struct recorder_table *table, int64_t tick, const struct frame *frame,
                     size_t row, uint32_t at, uint32_t *number)
{
    const struct entity *entity = &frame->entities[row];
    const struct recorder_row twin = {
        .number = ++*number,
        .tracked = at,
        .row = row,
        .flags = entity->flags & (RECORDING_NEW | RECORDING_ENDED),
    };

    table->tracked[at].stale = true;
    if (twin.flags == RECORDING_NEW)
        follow_twin(table, frame, &twin);
    if (!add_row(table, twin))
        return CAMP_E_NOMEM;
    return write_identity(table, tick, twin.number, entity, NULL);
}

static int list_row(struct recorder_table *table, int64_t tick, bool key, const struct frame *frame,
                    size_t row, uint32_t *number)
{
    const struct entity *entity = &frame->entities[row];
    const bool kernel = (entity->flags & ENTITY_KERNEL) != 0;
    uint32_t flags = entity->flags & (RECORDING_NEW | RECORDING_ENDED), at;
    struct recorder_tracked *tracked;
    enum registry_match match;
    struct rest rest;
    int r = registry_enter(&table->registry, entity, &at, &match);

    if (r != CAMP_OK || !reserve_tracked(table))
        return CAMP_E_NOMEM;
    tracked = &table->tracked[at];
    if (tracked->met == table->registry.frames)
        return list_twin(table, tick, frame, row, at, number);
    tracked->met = table->registry.frames;
    if (tracked->number == 0)
        tracked->number = ++*number, tracked->stale = true;
    if (tracked->stale || match != REGISTRY_KNOWN || tracked->kernel != kernel) {
        r = write_identity(table, tick, tracked->number, entity, tracked->labels);
        tracked->labels = entity->labels;
        flags |= RECORDING_CHANGED;
    }
    tracked->stale = false;
    tracked->kernel = kernel;
    rest = flags == 0 || flags == RECORDING_CHANGED ? rest_of(frame, row)
                                                    : (struct rest){ .state = -1 };
    if (flags == 0 && !key && goes_on(table, at, frame, row, rest))
        return r;
    if (rest.state >= 0)
        flags |= RECORDING_REST;
    tracked->rest = rest;
    tracked->count = entity->count;
    keep_gauges(table, at, frame_values(frame, row));
    return add_row(table, (struct recorder_row){ tracked->number, at, row, flags }) ? r
                                                                                    : CAMP_E_NOMEM;
}

/* Those whose rest would otherwise go on. At a key tick the reader sees that they are not there. */
static int list_gone(struct recorder_table *table, bool key)
{
    for (size_t i = 0; i < table->registry.count; i++) {
        struct recorder_tracked *tracked = &table->tracked[i];

        if (tracked->rest.state < 0 || tracked->met == table->registry.frames ||
            tracked->number == 0)
            continue;
        tracked->rest.state = -1;
        if (!key && !add_row(table, (struct recorder_row){ tracked->number, (uint32_t)i, SIZE_MAX,
                                                           RECORDING_GONE }))
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct recorder_row *left = a, *right = b;

    return left->number < right->number ? -1 : left->number > right->number;
}

static void sort_list(struct recorder_table *table)
{
    for (size_t i = 1; i < table->list_count; i++) {
        if (table->list[i].number < table->list[i - 1].number) {
            qsort(table->list, table->list_count, sizeof *table->list, compare_rows);
            return;
        }
    }
}

/* -------------------------------------------------------------------------------- Memory -- */

void recorder_table_forget(struct recorder_table *table)
{
    registry_release(&table->registry);
    free(table->tracked);
    free(table->last_gauges);
    table->tracked = NULL;
    table->last_gauges = NULL;
    table->tracked_capacity = 0;
    table->wants_key = true;
}

/* Those that are not there any more need not be known for ever: after a while only those of the
 * last two frames are. */
static int forget_gone(struct recorder_table *table, size_t present)
{
    struct recorder_table old = *table;
    int r = CAMP_OK;

    if (table->registry.count < 2 * present + FORGET_ABOVE)
        return CAMP_OK;
    table->registry = (struct registry){ 0 };
    table->tracked = NULL;
    table->last_gauges = NULL;
    table->tracked_capacity = 0;
    registry_start_frame(&table->registry);
    for (size_t i = 0; i < old.registry.count && r == CAMP_OK; i++) {
        struct entity entity = old.registry.entities[i].entity;
        enum registry_match match;
        uint32_t at;

        if (old.registry.entities[i].last_seen + 1 < old.registry.frames)
            continue;
        entity.flags &= ~(uint32_t)ENTITY_NEW;
        r = registry_enter(&table->registry, &entity, &at, &match);
        if (r != CAMP_OK || !reserve_tracked(table)) {
            r = CAMP_E_NOMEM;
            break;
        }
        table->tracked[at] = old.tracked[i];
        table->tracked[at].met = old.tracked[i].met == old.registry.frames;
        if (table->gauge_count > 0)
            memcpy(&table->last_gauges[at * table->gauge_count],
                   &old.last_gauges[i * table->gauge_count],
                   table->gauge_count * sizeof *table->last_gauges);
    }
    registry_release(&old.registry);
    free(old.tracked);
    free(old.last_gauges);
    return r;
}

int recorder_table_write(struct recorder_table *table, int64_t tick, bool key,
                         const struct frame *frame, uint32_t *number, uint64_t *ret_written)
{
    int r;

    key = key || table->wants_key;
    table->list_count = 0;
    registry_start_frame(&table->registry);
    r = write_tick(table, tick, key, frame);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = list_row(table, tick, key, frame, i, number);
    if (r == CAMP_OK)
        r = list_gone(table, key);
    sort_list(table);
    if (r == CAMP_OK)
        r = write_rows(table, tick, frame);
    if (r != CAMP_OK)
        return r;
    table->wants_key = false;
    *ret_written += table->list_count;
    return key ? forget_gone(table, frame->entity_count) : CAMP_OK;
}
