/* Adds up rows by labels. Unlike in groups.c, a row includes exited entities: the sessions of a
 * user come and go, but the user stays. */
#include "counters/error.h"
#include "groups.h"
#include "ledger/array.h"
#include "ledger/registry.h"

#include <stdlib.h>
#include <string.h>

#define FORGET_EVERY 64 /* A group without rows in so many intervals is forgotten. */

struct label_groups {
    struct source source; /* must be the first member */
    struct source *whole;
    struct grouping grouping; /* by labels */
    struct frame frame;
    struct registry registry; /* gives a number to each group, by the number of its labels */
    int64_t ids;              /* number of ids given to groups */
    struct label_place {
        uint64_t last_seen; /* registry.frames when the group last had a row */
        size_t row;         /* index of that row in `frame` */
        int64_t id;         /* of the group; not given again, unlike its number */
    } * places;             /* [capacity], indexed by the number of a group */
    size_t capacity;
};

static bool start_group(struct label_groups *groups, uint32_t number, labels_id labels)
{
    struct entity *entity = frame_add(&groups->frame);

    if (entity == NULL)
        return false;
    entity->id = groups->places[number].id;
    entity->count = 0;
    entity->labels = labels;
    grouping_name(&groups->grouping, labels, entity->name);
    groups->places[number].last_seen = groups->registry.frames;
    groups->places[number].row = groups->frame.entity_count - 1;
    return true;
}

static int add_row(struct label_groups *groups, const struct frame *frame, size_t row)
{
    const labels_id labels = grouping_labels(&groups->grouping, frame->entities[row].labels);
    const struct entity group = { .id = (int64_t)labels };
    enum registry_match match;
    uint32_t number;
    size_t to;

    if (registry_enter(&groups->registry, &group, &number, &match) != CAMP_OK ||
        !ARRAY_RESERVE_ZEROED(groups->places, groups->capacity, groups->registry.count))
        return CAMP_E_NOMEM;
    if (match == REGISTRY_NEW)
        groups->places[number] = (struct label_place){ .id = ++groups->ids };
    if (groups->places[number].last_seen != groups->registry.frames &&
        !start_group(groups, number, labels))
        return CAMP_E_NOMEM;
    to = groups->places[number].row;
    frame_add_values(&groups->frame, to, frame, row);
    groups->frame.entities[to].count += frame->entities[row].count;
    if ((frame->entities[row].flags & ENTITY_PART) != 0)
        groups->frame.repeated += frame->entities[row].count;
    return CAMP_OK;
}

static const struct schema *describe(const struct source *base)
{
    const struct label_groups *groups = (const struct label_groups *)base;

    return groups->whole->describe(groups->whole);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct label_groups *groups = (struct label_groups *)base;
    const struct frame *frame;
    int r = groups->whole->next(groups->whole, deadline_ns, &frame, error);

    if (r != CAMP_OK)
        return r;
    frame_start_as(&groups->frame, frame);
    registry_start_frame(&groups->registry);
    /* Values such as texts of queries may change all the time. */
    if (groups->registry.frames % FORGET_EVERY == 0)
        registry_expire(&groups->registry, groups->registry.frames - FORGET_EVERY + 1);
    for (size_t i = 0; i < frame->entity_count && r == CAMP_OK; i++)
        r = add_row(groups, frame, i);
    frame_count_lost_labels(&groups->frame);
    *ret_frame = &groups->frame;
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for groups by a label");
}

static const struct frame *beside(const struct source *base)
{
    return source_beside(((const struct label_groups *)base)->whole);
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    return source_causes(((struct label_groups *)base)->whole, ret, error);
}

static void close_groups(struct source *base)
{
    struct label_groups *groups = (struct label_groups *)base;

    source_close(groups->whole);
    registry_release(&groups->registry);
    free(groups->places);
    frame_release(&groups->frame);
    free(groups);
}

static bool groups_by(const struct label_groups *groups, const char *name)
{
    const struct schema *schema = groups->whole->describe(groups->whole);

    for (size_t i = 0; i < schema->label_count; i++) {
        if (grouping_has_label(&groups->grouping, i) && strcmp(schema->label_names[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns the first label of the grouping by which time can be divided, or NULL. */
static const char *division_of(const struct label_groups *groups)
{
    static const char *const labels[] = { SOURCE_DIVISIONS };

    for (size_t i = 0; i < ARRAY_COUNT(labels); i++) {
        if (groups_by(groups, labels[i]))
            return labels[i];
    }
    return NULL;
}

int label_groups_open(struct source *whole, const struct grouping *grouping, struct source **ret)
{
    struct label_groups *groups = calloc(1, sizeof *groups);

    if (groups == NULL) {
        source_close(whole);
        return CAMP_E_NOMEM;
    }
    groups->source = (struct source){ .describe = describe,
                                      .next = next,
                                      .close = close_groups,
                                      .beside = beside,
                                      .causes = causes };
    groups->whole = whole;
    groups->grouping = *grouping;
    source_set_division(whole, division_of(groups));
    frame_init(&groups->frame, whole->describe(whole));
    *ret = &groups->source;
    return CAMP_OK;
}
