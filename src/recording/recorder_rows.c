/*
 * Selects the rows of a frame that must be written, and writes them. An idle row is left out if the
 * reader can restore it from the last written row of its entity. Key intervals leave out no rows.
 * A frame that omits idle entities (IDLE_OMITTED) cannot be a key interval. The rows of an interval
 * are sorted by entity number, as the reader needs them.
 *
 * A frame may have two rows with the same id, if an entity ended and a new entity got its id. The
 * second row then gets a new entity number.
 */
#include "ledger/array.h"
#include "recorder_table.h"

#include <stdlib.h>
#include <string.h>

/* Absent entities are forgotten when there are this many more of them than of present entities. */
#define FORGET_ABOVE 1024

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

static int step(sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK ? CAMP_OK : CAMP_E_IO;
}

static int write_labels(struct recorder_table *table, int64_t tick, uint32_t number,
                        labels_id before, labels_id now)
{
    sqlite3_stmt *statement = table->label;
    /* The labels in the file are unknown if their tuple was freed. */
    const bool is_freed = before != LABELS_NONE && labels_count(before) == 0;
    int r = CAMP_OK;

    for (size_t i = 0; before != now && i < table->schema->label_count && r == CAMP_OK; i++) {
        const char *value = labels_value(now, i);

        if (!is_freed && strcmp(labels_value(before, i), value) == 0)
            continue;
        sqlite3_bind_int64(statement, 1, number);
        sqlite3_bind_int64(statement, 2, (int64_t)i);
        sqlite3_bind_int64(statement, 3, tick);
        sqlite3_bind_text(statement, 4, value, -1, SQLITE_STATIC);
        r = step(statement);
        sqlite3_clear_bindings(statement); /* The text belongs to the labels. */
    }
    return r;
}

/* Writes the identity of an entity, and each label whose value differs from the one in `labels`.
 * The file already has `labels`. */
static int write_identity(struct recorder_table *table, int64_t tick, uint32_t number,
                          const struct entity *entity, labels_id labels)
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
    /* SQLite keeps a pointer to the name, which belongs to the frame. */
    sqlite3_clear_bindings(statement);
    return r == CAMP_OK ? write_labels(table, tick, number, labels, entity->labels) : r;
}

/* Writes the interval, whose rows are those of table->list. */
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
        (uint64_t)table->next_row,
        table->list_count,
    };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        sqlite3_bind_int64(table->tick, (int)i + 1, (int64_t)values[i]);
    return step(table->tick);
}

/* Writes all rows of table->list with one statement. SQLite fetches these rows from
 * recorder_feed.c. */
static int write_rows(struct recorder_table *table, const struct frame *frame)
{
    int r;

    table->frame = frame;
    r = step(table->rows.insert);
    if (r == CAMP_OK && table->seldom_rows.insert != NULL)
        r = step(table->seldom_rows.insert);
    if (r == CAMP_OK)
        table->next_row += (int64_t)table->list_count;
    return r;
}

static bool has_same_gauges(struct recorder_table *table, size_t at, const uint64_t *values)
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

/* Returns whether the reader can restore this row from the last written row of its entity. */
static bool is_restored(struct recorder_table *table, uint32_t at, const struct frame *frame,
                        size_t row, struct idle_row idle)
{
    const struct recorder_tracked *tracked = &table->tracked[at];

    return idle.state >= 0 && idle.state == tracked->idle.state &&
           idle.times == tracked->idle.times && idle.repeated == tracked->idle.repeated &&
           tracked->count == frame->entities[row].count &&
           has_same_gauges(table, at, frame_values(frame, row));
}

/* Keeps what the file had of an entity before this interval. */
static bool keep_undo(struct recorder_table *table, uint32_t at, struct recorder_tracked before)
{
    if (!ARRAY_RESERVE(table->undo, table->undo_capacity, table->undo_count + 1))
        return false;
    table->undo[table->undo_count++] = (struct recorder_undo){ at, before };
    return true;
}

void recorder_table_roll_back(struct recorder_table *table, int64_t tick)
{
    if (table->undo_tick != tick)
        return;
    while (table->undo_count > 0) {
        const struct recorder_undo *undo = &table->undo[--table->undo_count];

        table->tracked[undo->tracked] = undo->before;
        /* The registry has the new identity, and last_gauges the new gauges. The next row of a
         * stale entity is always written, so neither matters. */
        table->tracked[undo->tracked].stale = true;
    }
    table->wants_key = table->undo_wants_key;
}

/* From the next frame on, tracks the entity of `twin` instead of the other entity with the same id,
 * which has ended. */
static void follow_twin(struct recorder_table *table, const struct frame *frame,
                        const struct recorder_row *twin)
{
    struct recorder_tracked *tracked = &table->tracked[twin->tracked];
    const struct entity *entity = &frame->entities[twin->row];

    tracked->number = twin->number;
    tracked->labels = entity->labels;
    tracked->kernel = (entity->flags & ENTITY_KERNEL) != 0;
    tracked->stale = false;
    tracked->idle = not_idle;
    keep_gauges(table, twin->tracked, frame_values(frame, twin->row));
}

/* Adds a twin: a row with the id of another row in the same frame. */
static int list_twin(struct recorder_table *table, int64_t tick, const struct frame *frame,
                     size_t row, uint32_t at, uint32_t *number)
{
    const struct entity *entity = &frame->entities[row];
    const struct recorder_row twin = {
        .number = ++*number,
        .tracked = at,
        .row = row,
        .flags = entity->flags & (RECORDING_NEW | RECORDING_ENDED | RECORDING_UNTHROTTLED),
    };

    table->tracked[at].stale = true;
    if (twin.flags == RECORDING_NEW)
        follow_twin(table, frame, &twin);
    if (!add_row(table, twin))
        return CAMP_E_NOMEM;
    return write_identity(table, tick, twin.number, entity, LABELS_NONE);
}

/* Adds a row with RECORDING_GONE for an entity that was idle and is no longer there. Without it,
 * the reader would restore the idle row of the entity. A key interval needs no such rows, because
 * the reader restores nothing in it. */
static int list_gone(struct recorder_table *table, uint32_t at, bool key)
{
    struct recorder_tracked *tracked = &table->tracked[at];

    if (tracked->idle.state < 0 || tracked->number == 0 ||
        tracked->last_seen == table->registry.frames)
        return CAMP_OK;
    if (!keep_undo(table, at, *tracked))
        return CAMP_E_NOMEM;
    tracked->idle = not_idle;
    return key || add_row(table,
                          (struct recorder_row){ tracked->number, at, SIZE_MAX, RECORDING_GONE })
               ? CAMP_OK
               : CAMP_E_NOMEM;
}

/* Rows of entities that are gone are listed before all others, because a new entity may have the
 * same id. */
static int list_gone_row(struct recorder_table *table, const struct entity *entity)
{
    const uint32_t at = (entity->flags & ENTITY_GONE) != 0 ? registry_find(&table->registry, entity)
                                                           : REGISTRY_NONE;

    return at != REGISTRY_NONE ? list_gone(table, at, false) : CAMP_OK;
}

/* Of a frame with all entities, those that it lacks are gone. */
static int list_all_gone(struct recorder_table *table, const struct frame *frame, bool key)
{
    int r = CAMP_OK;

    for (uint32_t i = 0; frame->omitted == 0 && i < table->registry.count && r == CAMP_OK; i++)
        r = list_gone(table, i, key);
    return r;
}

static int list_row(struct recorder_table *table, int64_t tick, bool key, const struct frame *frame,
                    size_t row, uint32_t *number)
{
    const struct entity *entity = &frame->entities[row];
    const bool kernel = (entity->flags & ENTITY_KERNEL) != 0;
    uint32_t flags = entity->flags & (RECORDING_NEW | RECORDING_ENDED), at;
    struct recorder_tracked *tracked;
    enum registry_match match;
    struct idle_row idle;
    int r;

    if ((entity->flags & ENTITY_GONE) != 0)
        return CAMP_OK;
    r = registry_enter(&table->registry, entity, &at, &match);

    if (r != CAMP_OK || !reserve_tracked(table))
        return CAMP_E_NOMEM;
    tracked = &table->tracked[at];
    /* The index may have belonged to an entity that registry_expire() removed, so its data is
     * cleared. */
    if (match == REGISTRY_NEW)
        *tracked = (struct recorder_tracked){ 0 };
    if (!keep_undo(table, at, *tracked))
        return CAMP_E_NOMEM;
    if (tracked->last_seen == table->registry.frames)
        return list_twin(table, tick, frame, row, at, number);
    tracked->last_seen = table->registry.frames;
    if (tracked->number == 0) {
        tracked->number = ++*number;
        tracked->stale = true;
    }
    if (tracked->stale || match != REGISTRY_KNOWN || tracked->kernel != kernel) {
        r = tracked->stale || match != REGISTRY_RELABELED || tracked->kernel != kernel
                ? write_identity(table, tick, tracked->number, entity, tracked->labels)
                : write_labels(table, tick, tracked->number, tracked->labels, entity->labels);
        tracked->labels = entity->labels;
        flags |= RECORDING_CHANGED;
    }
    tracked->stale = false;
    tracked->kernel = kernel;
    idle = flags == 0 || flags == RECORDING_CHANGED ? idle_row_of(frame, row) : not_idle;
    if (flags == 0 && !key && is_restored(table, at, frame, row, idle))
        return r;
    if (idle.state >= 0)
        flags |= RECORDING_IDLE;
    tracked->idle = idle;
    tracked->count = entity->count;
    keep_gauges(table, at, frame_values(frame, row));
    flags |= entity->flags & RECORDING_UNTHROTTLED;
    return add_row(table, (struct recorder_row){ tracked->number, at, row, flags }) ? r
                                                                                    : CAMP_E_NOMEM;
}

/* The row of an entity comes before its row with RECORDING_GONE. */
static int compare_rows(const void *a, const void *b)
{
    const struct recorder_row *left = a, *right = b;

    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return (int)(left->flags & RECORDING_GONE) - (int)(right->flags & RECORDING_GONE);
}

/* Sorts the rows by entity number. An entity that is gone and has a row all the same, such as one
 * that was only missing, has just that row. */
static void sort_list(struct recorder_table *table)
{
    size_t count = 0;

    for (size_t i = 1; i < table->list_count; i++) {
        if (table->list[i].number <= table->list[i - 1].number) {
            qsort(table->list, table->list_count, sizeof *table->list, compare_rows);
            break;
        }
    }
    for (size_t i = 0; i < table->list_count; i++) {
        if (count == 0 || table->list[count - 1].number != table->list[i].number)
            table->list[count++] = table->list[i];
    }
    table->list_count = count;
}

/* Returns how many rows of the list are those of entities that are there. */
static uint64_t count_present(const struct recorder_table *table)
{
    uint64_t count = 0;

    for (size_t i = 0; i < table->list_count; i++)
        count += (table->list[i].flags & RECORDING_GONE) == 0;
    return count;
}

int recorder_table_write(struct recorder_table *table, int64_t tick, bool key,
                         const struct frame *frame, uint32_t *number, uint64_t *ret_written)
{
    int r = CAMP_OK;

    table->undo_tick = tick;
    table->undo_wants_key = table->wants_key;
    table->undo_count = 0;
    key = (key || table->wants_key) && frame->omitted == 0;
    table->list_count = 0;
    registry_start_frame(&table->registry);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = list_gone_row(table, &frame->entities[i]);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = list_row(table, tick, key, frame, i, number);
    if (r == CAMP_OK)
        r = list_all_gone(table, frame, key);
    sort_list(table);
    if (r == CAMP_OK)
        r = write_tick(table, tick, key, frame);
    if (r == CAMP_OK)
        r = write_rows(table, frame);
    if (r != CAMP_OK)
        return r;
    table->wants_key = table->wants_key && !key;
    *ret_written = count_present(table);
    if (key && table->registry.count - table->registry.spare_count >=
                   2 * frame->entity_count + FORGET_ABOVE)
        registry_expire(&table->registry, table->registry.frames - 1);
    return CAMP_OK;
}
