#include "frame.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 100 /* of frame_times(): 1 / TOLERANCE */

void frame_init(struct frame *frame, const struct schema *schema)
{
    *frame = (struct frame){ .schema = schema };
}

void frame_release(struct frame *frame)
{
    free(frame->entities);
    free(frame->elapsed_ns);
    free(frame->values);
    free(frame->only_states);
    frame_init(frame, frame->schema);
}

/* The values of the rows that are not in use are always 0. Most rows are those of idle threads, so
 * it is faster to clear what they have than to clear all values of a new row. */
void frame_clear(struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct filled_columns filled = frame_filled_columns(frame, i);

        memset(frame_values(frame, i) + filled.first, 0,
               (filled.end - filled.first) * sizeof *frame->values);
    }
    frame->entity_count = 0;
    frame->omitted = frame->repeated = frame->size = 0;
    frame->losses = (struct losses){ 0 };
    frame->note = NULL;
}

struct entity *frame_add(struct frame *frame)
{
    const size_t at = frame->entity_count;

    /* Rows are added often, so the arrays are looked at only if they are full. */
    if (at == frame->capacity &&
        !ARRAYS_RESERVE(frame->capacity, at + 1, ARRAY(frame->entities), ARRAY(frame->elapsed_ns),
                        ARRAY_ROWS_ZEROED(frame->values, frame->schema->column_count),
                        ARRAY(frame->only_states)))
        return NULL;
    frame->entity_count++;
    frame->entities[at] = (struct entity){ .count = 1 };
    frame->elapsed_ns[at] = 0;
    frame->only_states[at] = 0;
    return &frame->entities[at];
}

struct entity *frame_add_row(struct frame *frame, const struct frame *from, size_t row)
{
    struct entity *entity = frame_add(frame);

    if (entity == NULL)
        return NULL;
    *entity = from->entities[row];
    frame->only_states[frame->entity_count - 1] = from->only_states[row];
    frame_add_values(frame, frame->entity_count - 1, from, row);
    return entity;
}

void frame_start_as(struct frame *ret, const struct frame *from)
{
    if (ret->schema != from->schema) {
        frame_release(ret);
        frame_init(ret, from->schema);
    }
    frame_start_at(ret, from);
}

void frame_start_at(struct frame *ret, const struct frame *from)
{
    frame_clear(ret);
    ret->start_ns = from->start_ns;
    ret->end_ns = from->end_ns;
    ret->wall_clock_ns = from->wall_clock_ns;
    ret->omitted = from->omitted;
    ret->losses = from->losses;
    ret->note = from->note;
}

void frame_count_lost_labels(struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++)
        frame->losses.partial += frame->entities[i].labels == LABELS_LOST;
}

/* Returns the only state of an entity, or the first `count` columns. */
static struct filled_columns filled_of(const struct frame *frame, size_t entity, size_t count)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): frame_release() sets entity_count to 0 */
    const size_t only = frame->only_states[entity];

    if (only > 0)
        return (struct filled_columns){ only - 1, only, &frame->elapsed_ns[entity] };
    return (struct filled_columns){ 0, count, frame_values(frame, entity) };
}

struct filled_columns frame_filled_columns(const struct frame *frame, size_t entity)
{
    return filled_of(frame, entity, frame->schema->column_count);
}

struct filled_columns frame_filled_states(const struct frame *frame, size_t entity)
{
    return filled_of(frame, entity, frame->schema->state_count);
}

size_t schema_find_label(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->label_count; i++) {
        if (strcmp(schema->label_names[i], name) == 0)
            return i;
    }
    return SIZE_MAX;
}

static size_t find_column_from(const struct schema *schema, size_t first, const char *name)
{
    for (size_t i = first; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

size_t schema_find_column(const struct schema *schema, const char *name)
{
    return find_column_from(schema, 0, name);
}

size_t schema_find_counter(const struct schema *schema, const char *name)
{
    return find_column_from(schema, schema->state_count, name);
}

void schema_find_maxima(struct schema *schema)
{
    schema->longest = schema->maximum = 0;
    for (size_t i = schema->state_count > 0 ? schema->state_count : 1; i < schema->column_count;
         i++) {
        if (strcmp(schema->columns[i].name, COLUMN_LONGEST) == 0 && schema->longest == 0 &&
            i + LONGEST_COLUMNS <= schema->column_count)
            schema->longest = i;
        if (strcmp(schema->columns[i].name, COLUMN_AGE) == 0 ||
            strcmp(schema->columns[i].name, COLUMN_MAXIMUM_ERROR) == 0)
            schema->maximum = i;
    }
}

void frame_add_values(struct frame *frame, size_t entity, const struct frame *from, size_t row)
{
    const struct filled_columns filled = frame_filled_columns(from, row);
    uint64_t *sums = frame_values(frame, entity) + filled.first;
    const size_t longest = from->schema->longest, maximum = from->schema->maximum;
    uint64_t kept[LONGEST_COLUMNS], greatest = 0;

    if (longest != 0 && longest < filled.end)
        memcpy(kept,
               sums[longest] >= filled.values[longest] ? &sums[longest] : &filled.values[longest],
               sizeof kept);
    if (maximum != 0 && maximum < filled.end)
        greatest = sums[maximum] > filled.values[maximum] ? sums[maximum] : filled.values[maximum];
    for (size_t i = 0; i < filled.end - filled.first; i++)
        sums[i] += filled.values[i];
    if (maximum != 0 && maximum < filled.end)
        sums[maximum] = greatest;
    if (longest != 0 && longest < filled.end)
        memcpy(&sums[longest], kept, sizeof kept);
    frame->elapsed_ns[entity] += from->elapsed_ns[row];
    if (frame->only_states[entity] != from->only_states[row])
        frame->only_states[entity] = 0;
}

uint32_t frame_times(uint64_t elapsed_ns, uint64_t wall_ns)
{
    uint64_t times, whole_ns;

    if (wall_ns == 0)
        return 0;
    times = elapsed_ns / wall_ns + (elapsed_ns % wall_ns > wall_ns / 2);
    if (times == 0 || times > UINT32_MAX)
        return 0;
    whole_ns = times * wall_ns;
    if ((whole_ns > elapsed_ns ? whole_ns - elapsed_ns : elapsed_ns - whole_ns) >
        whole_ns / TOLERANCE)
        return 0;
    return (uint32_t)times;
}

uint64_t frame_size(const struct frame *frame)
{
    uint64_t size = frame->omitted;

    if (frame->size > 0)
        return frame->size;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const uint32_t flags = frame->entities[i].flags;

        if ((flags & (ENTITY_GONE | ENTITY_PART)) == 0)
            size += (flags & ENTITY_ALIKE) != 0 ? frame->entities[i].count : 1;
    }
    return size;
}

size_t frame_cpu_count(const struct frame *cpus, size_t unknown)
{
    size_t count = 0;

    if (cpus == NULL || cpus->entity_count == 0)
        return unknown;
    for (size_t i = 0; i < cpus->entity_count; i++)
        count += cpus->entities[i].id != CAMP_CPU_TOTAL;
    return count;
}

int64_t frame_unaccounted_ns(const struct frame *frame, size_t entity)
{
    const uint64_t *values = frame_values(frame, entity);
    uint64_t sum = 0;

    if (frame->only_states[entity] != 0)
        return 0;
    for (size_t i = 0; i < frame->schema->state_count; i++)
        sum += values[i];
    return (int64_t)(frame->elapsed_ns[entity] - sum);
}

uint64_t frame_unaccounted_size_ns(const struct frame *frame, size_t entity)
{
    const int64_t unaccounted = frame_unaccounted_ns(frame, entity);

    return unaccounted < 0 ? 0 - (uint64_t)unaccounted : (uint64_t)unaccounted;
}

uint64_t counted_since(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

void states_since(uint64_t *ret, const uint64_t *before, const uint64_t *after, size_t count)
{
    uint64_t owed = 0;

    for (size_t i = 0; i < count; i++) {
        owed += counted_since(after[i], before[i]);
        ret[i] = counted_since(before[i], after[i]);
    }
    while (owed > 0) {
        size_t most = 0;
        uint64_t given;

        for (size_t i = 1; i < count; i++) {
            if (ret[i] > ret[most])
                most = i;
        }
        given = ret[most] < owed ? ret[most] : owed;
        if (given == 0)
            return;
        ret[most] -= given;
        owed -= given;
    }
}

void losses_add(struct losses *sum, const struct losses *losses)
{
    sum->unseen += losses->unseen;
    sum->lost += losses->lost;
    sum->unread_ns += losses->unread_ns;
    sum->partial += losses->partial;
}

bool schema_has_servers(const struct schema *schema)
{
    return schema->label_count > 0 && strcmp(schema->label_names[0], LABEL_SERVER) == 0;
}

int64_t entity_pid(const struct entity *entity)
{
    return entity->pid != 0 ? entity->pid : entity->id;
}

int entity_compare_by_process(const struct entity *left, const struct entity *right)
{
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if ((left->id == left->pid) != (right->id == right->pid))
        return left->id == left->pid ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (int)(left->flags & ENTITY_ALIKE) - (int)(right->flags & ENTITY_ALIKE);
}
