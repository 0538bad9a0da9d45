#include "frame.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

void frame_init(struct frame *frame, const struct schema *schema)
{
    *frame = (struct frame){ .schema = schema };
}

void frame_release(struct frame *frame)
{
    free(frame->entities);
    free(frame->elapsed_ns);
    free(frame->values);
    frame_init(frame, frame->schema);
}

void frame_clear(struct frame *frame)
{
    frame->entity_count = 0;
    frame->losses = (struct losses){ 0 };
    frame->note = NULL;
}

struct entity *frame_add(struct frame *frame)
{
    size_t columns = frame->schema->column_count;
    size_t at = frame->entity_count;

    if (!ARRAYS_RESERVE(frame->capacity, at + 1, ARRAY(frame->entities), ARRAY(frame->elapsed_ns),
                        ARRAY_ROWS(frame->values, columns)))
        return NULL;
    frame->entity_count++;
    memset(&frame->entities[at], 0, sizeof frame->entities[at]);
    memset(&frame->values[at * columns], 0, columns * sizeof *frame->values);
    frame->elapsed_ns[at] = 0;
    frame->entities[at].count = 1;
    return &frame->entities[at];
}

struct entity *frame_add_row(struct frame *frame, const struct frame *from, size_t row)
{
    struct entity *entity = frame_add(frame);

    if (entity == NULL)
        return NULL;
    *entity = from->entities[row];
    frame->elapsed_ns[frame->entity_count - 1] = from->elapsed_ns[row];
    memcpy(frame_values(frame, frame->entity_count - 1), frame_values(from, row),
           from->schema->column_count * sizeof *from->values);
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
    ret->losses = from->losses;
    ret->note = from->note;
}

void frame_count_lost_labels(struct frame *frame)
{
    for (size_t i = 0; i < frame->entity_count; i++)
        frame->losses.partial += frame->entities[i].labels == LABELS_LOST;
}

uint64_t *frame_values(const struct frame *frame, size_t entity)
{
    return &frame->values[entity * frame->schema->column_count];
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
    return left->id < right->id ? -1 : left->id > right->id;
}
