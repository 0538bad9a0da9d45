/*
 * Groups by a label: one row for each value. Unlike groups of threads (groups.c) a row includes
 * ended entities: a user's sessions come and go, and the user is the same.
 */
#include "label_groups.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "sources/field.h"

#include <stdlib.h>
#include <string.h>

/* The tuple with only this label of an entity; NULL: none. */
static const struct labels *group_of(const struct label_groups *groups, const struct entity *entity)
{
    const char *values[LABELS_MOST] = { NULL };

    values[groups->label] = labels_value(entity->labels, groups->label);
    return labels_intern(values, groups->frame.schema->label_count);
}

static bool reserve(struct label_groups *groups)
{
    return ARRAY_RESERVE_ZEROED(groups->places, groups->capacity, groups->registry.count);
}

static bool start_group(struct label_groups *groups, uint32_t number, const struct labels *labels)
{
    const char *value = labels_value(labels, groups->label);
    struct entity *entity = frame_add(&groups->frame);

    if (entity == NULL)
        return false;
    entity->id = (int64_t)number + 1;
    entity->count = 0;
    entity->labels = labels;
    value = value[0] != '\0' ? value : "(none)";
    field_copy((struct field){ value, strlen(value) }, entity->name, sizeof entity->name);
    groups->places[number] =
        (struct label_place){ groups->registry.frames, groups->frame.entity_count - 1 };
    return true;
}

static int add_row(struct label_groups *groups, const struct frame *frame, size_t row)
{
    const struct labels *labels = group_of(groups, &frame->entities[row]);
    const struct entity group = { .id = (int64_t)(intptr_t)labels };
    const uint64_t *values = frame_values(frame, row);
    enum registry_match match;
    uint64_t *sums;
    uint32_t number;
    size_t to;

    if (registry_enter(&groups->registry, &group, &number, &match) != CAMP_OK || !reserve(groups))
        return CAMP_E_NOMEM;
    if (groups->places[number].last_frame != groups->registry.frames &&
        !start_group(groups, number, labels))
        return CAMP_E_NOMEM;
    to = groups->places[number].row;
    sums = frame_values(&groups->frame, to);
    for (size_t i = 0; i < frame->schema->column_count; i++)
        sums[i] += values[i];
    groups->frame.elapsed_ns[to] += frame->elapsed_ns[row];
    groups->frame.entities[to].count += frame->entities[row].count;
    return CAMP_OK;
}

void label_groups_init(struct label_groups *ret, const struct schema *schema, size_t label)
{
    *ret = (struct label_groups){ .label = label };
    frame_init(&ret->frame, schema);
}

int label_groups_fill(struct label_groups *groups, const struct frame *frame)
{
    int r = CAMP_OK;

    frame_clear(&groups->frame);
    groups->frame.start_ns = frame->start_ns;
    groups->frame.end_ns = frame->end_ns;
    groups->frame.wall_clock_ns = frame->wall_clock_ns;
    groups->frame.losses = frame->losses;
    groups->frame.note = frame->note;
    registry_start_frame(&groups->registry);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = add_row(groups, frame, i);
    return r;
}

void label_groups_release(struct label_groups *groups)
{
    registry_release(&groups->registry);
    free(groups->places);
    frame_release(&groups->frame);
    *groups = (struct label_groups){ 0 };
}

/* ------------------------------------------------------------------------------- A source -- */

struct grouped_source {
    struct source source; /* first: a grouped_source is a source */
    struct source *whole;
    struct label_groups groups;
};

static const struct schema *describe(const struct source *base)
{
    const struct grouped_source *source = (const struct grouped_source *)base;

    return source->whole->describe(source->whole);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct grouped_source *source = (struct grouped_source *)base;
    const struct frame *frame;
    int r = source->whole->next(source->whole, deadline_ns, &frame, error);

    if (r != CAMP_OK)
        return r;
    *ret_frame = &source->groups.frame;
    r = label_groups_fill(&source->groups, frame);
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for groups by a label");
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct grouped_source *)base)->whole);
}

static void close_groups(struct source *base)
{
    struct grouped_source *source = (struct grouped_source *)base;

    source_close(source->whole);
    label_groups_release(&source->groups);
    free(source);
}

int label_groups_open(struct source *whole, size_t label, struct source **ret)
{
    struct grouped_source *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(whole);
        return CAMP_E_NOMEM;
    }
    source->source = (struct source){ describe, next, close_groups, beside };
    source->whole = whole;
    label_groups_init(&source->groups, whole->describe(whole), label);
    *ret = &source->source;
    return CAMP_OK;
}
