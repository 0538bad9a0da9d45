/*
 * Groups by a label: one row for each value. Unlike groups of threads (groups.c) it has what ended
 * in the interval in it too: a user's sessions come and go, and the user is the same.
 */
#include "label_groups.h"

#include "ledger/roster.h"
#include "table_field.h"

#include <stdlib.h>
#include <string.h>

/* Where a group is in the frame that is made. */
struct place {
    uint64_t met; /* in which of the roster's frames */
    size_t row;
};

struct label_groups {
    struct source source; /* first: a label_groups is a source */
    struct source *whole;
    size_t label;
    struct roster roster; /* of groups, whose ids there are the addresses of their tuples */
    struct place *places; /* [capacity] by the roster's numbers */
    size_t capacity;
    struct frame frame;
};

static const struct schema *describe(const struct source *base)
{
    const struct label_groups *source = (const struct label_groups *)base;

    return source->whole->describe(source->whole);
}

/* The tuple that has this label of an entity alone; NULL: it has none. */
static const struct labels *group_of(const struct label_groups *source, const struct entity *entity)
{
    const char *values[LABELS_MOST] = { NULL };

    values[source->label] = labels_value(entity->labels, source->label);
    return labels_intern(values, source->frame.schema->label_count);
}

static bool reserve(struct label_groups *source)
{
    const size_t capacity = source->roster.capacity;
    struct place *places;

    if (capacity <= source->capacity)
        return true;
    places = reallocarray(source->places, capacity, sizeof *places);
    if (places == NULL)
        return false;
    memset(places + source->capacity, 0, (capacity - source->capacity) * sizeof *places);
    source->places = places;
    source->capacity = capacity;
    return true;
}

static bool begin_group(struct label_groups *source, uint32_t number, const struct labels *labels)
{
    const char *value = labels_value(labels, source->label);
    struct entity *entity = frame_add(&source->frame);

    if (entity == NULL)
        return false;
    entity->id = (int64_t)number + 1;
    entity->count = 0;
    entity->labels = labels;
    value = value[0] != '\0' ? value : "(none)";
    field_copy((struct field){ value, strlen(value) }, entity->name, sizeof entity->name);
    source->places[number] =
        (struct place){ source->roster.frames, source->frame.entity_count - 1 };
    return true;
}

static int add_row(struct label_groups *source, const struct frame *frame, size_t row)
{
    const struct labels *labels = group_of(source, &frame->entities[row]);
    const struct entity group = { .id = (int64_t)(intptr_t)labels };
    const uint64_t *values = frame_values(frame, row);
    enum roster_news news;
    uint64_t *sums;
    uint32_t number;
    size_t to;

    if (roster_find(&source->roster, &group, &number, &news) != CAMP_OK || !reserve(source))
        return CAMP_E_NOMEM;
    if (source->places[number].met != source->roster.frames && !begin_group(source, number, labels))
        return CAMP_E_NOMEM;
    to = source->places[number].row;
    sums = frame_values(&source->frame, to);
    for (size_t i = 0; i < frame->schema->column_count; i++)
        sums[i] += values[i];
    source->frame.elapsed_ns[to] += frame->elapsed_ns[row];
    source->frame.entities[to].count += frame->entities[row].count;
    return CAMP_OK;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct label_groups *source = (struct label_groups *)base;
    const struct frame *frame;
    int r = source->whole->next(source->whole, deadline_ns, &frame, error);

    if (r != CAMP_OK)
        return r;
    frame_clear(&source->frame);
    source->frame.start_ns = frame->start_ns;
    source->frame.end_ns = frame->end_ns;
    source->frame.wall_clock_ns = frame->wall_clock_ns;
    source->frame.losses = frame->losses;
    source->frame.note = frame->note;
    roster_begin(&source->roster);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = add_row(source, frame, i);
    *ret_frame = &source->frame;
    return r;
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct label_groups *)base)->whole);
}

static void close_groups(struct source *base)
{
    struct label_groups *source = (struct label_groups *)base;

    source_close(source->whole);
    roster_release(&source->roster);
    free(source->places);
    frame_release(&source->frame);
    free(source);
}

int label_groups_open(struct source *whole, size_t label, struct source **ret)
{
    struct label_groups *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(whole);
        return CAMP_E_NOMEM;
    }
    source->source = (struct source){ describe, next, close_groups, beside };
    source->whole = whole;
    source->label = label;
    frame_init(&source->frame, whole->describe(whole));
    *ret = &source->source;
    return CAMP_OK;
}
