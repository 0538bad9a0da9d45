#include "active_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FONT_SIZE 12

static const struct entity *entity_of(const struct active_groups *groups, uint32_t number)
{
    return &groups->picture->timeline->registry.entities[number].entity;
}

static int colour_of(const struct picture *picture)
{
    return picture->colour >= 0 ? picture->colour : PICTURE_COLOUR_NAME;
}

/* compare_entities() uses this variable, because qsort() passes no context. */
static const struct active_groups *sorted;

/* Compares the groups to which two entities belong. */
static int compare_keys(const struct entity *a, const struct entity *b)
{
    const int colour = colour_of(sorted->picture);
    size_t ours, theirs;
    const char *our_name = group_name_of(a, colour, &ours),
               *their_name = group_name_of(b, colour, &theirs);
    int order = 0;

    if (sorted->by_process && a->pid != b->pid)
        return a->pid > b->pid ? 1 : -1;
    if (sorted->by_process && a->pid > 0)
        return 0;
    order = memcmp(our_name, their_name, ours < theirs ? ours : theirs);
    return order != 0 ? order : (ours > theirs) - (ours < theirs);
}

static int compare_entities(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = compare_keys(entity_of(sorted, a), entity_of(sorted, b));

    return order != 0 ? order : (a > b) - (a < b);
}

/* The largest first; groups of the same size are in the order of the source. */
static int compare_groups(const void *left, const void *right)
{
    const struct active_group *a = left, *b = right;
    const int order = (a->sum.sum_s < b->sum.sum_s) - (a->sum.sum_s > b->sum.sum_s);

    return order != 0 ? order : (a->entity > b->entity) - (a->entity < b->entity);
}

static int find(struct active_groups *groups)
{
    const struct registry *registry = &groups->picture->timeline->registry;
    uint32_t *order = calloc(registry->count + 1, sizeof *order);

    groups->groups = calloc(registry->count + 1, sizeof *groups->groups);
    groups->group_of = calloc(registry->count + 1, sizeof *groups->group_of);
    if (order == NULL || groups->groups == NULL || groups->group_of == NULL) {
        free(order);
        return CAMP_E_NOMEM;
    }
    for (size_t i = 0; i < registry->count; i++)
        order[i] = (uint32_t)i;
    sorted = groups;
    qsort(order, registry->count, sizeof *order, compare_entities);
    for (size_t i = 0; i < registry->count; i++) {
        const struct entity *entity = entity_of(groups, order[i]);
        struct active_group *group = &groups->groups[groups->count];

        if (i > 0 && compare_keys(entity_of(groups, order[i - 1]), entity) == 0)
            group--;
        else
            groups->count++;
        if (group->members++ == 0 || entity->id == entity->pid)
            group->entity = order[i];
        groups->group_of[order[i]] = (uint32_t)(group - groups->groups);
    }
    sorted = NULL;
    free(order);
    return CAMP_OK;
}

static void add_frame(struct active_groups *groups, const struct timeline_frame *frame)
{
    const struct timeline *timeline = groups->picture->timeline;
    size_t parked = 0;

    for (size_t row = frame->first; row < frame->first + frame->count; row++) {
        struct active active;

        if (!active_row(timeline, row, &active, &groups->sums))
            continue;
        active_add(&groups->groups[groups->group_of[timeline->entities[row]]].sum, &active);
        active_add(&groups->sum, &active);
        parked += active.is_parked;
    }
    if (parked > groups->parked)
        groups->parked = parked;
    groups->length_s += fmax((double)(frame->end_ns - frame->begin_ns) / 1e9, 1e-9);
}

/* Sorts the groups by their active time. */
static int sort(struct active_groups *groups)
{
    const size_t entities = groups->picture->timeline->registry.count;
    uint32_t *places = calloc(groups->count + 1, sizeof *places);

    if (places == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < groups->count; i++)
        groups->groups[i].before = i;
    qsort(groups->groups, groups->count, sizeof *groups->groups, compare_groups);
    for (size_t i = 0; i < groups->count; i++) {
        places[groups->groups[i].before] = (uint32_t)i;
        groups->active += groups->groups[i].sum.sum_s > ACTIVE_GROUP_IDLE * groups->length_s;
    }
    for (size_t i = 0; i < entities; i++)
        groups->group_of[i] = places[groups->group_of[i]];
    free(places);
    return CAMP_OK;
}

int active_groups_find(struct active_groups *ret, const struct picture *picture, bool by_process)
{
    const struct timeline *timeline = picture->timeline;
    int r;

    *ret = (struct active_groups){ .picture = picture, .by_process = by_process };
    r = find(ret);
    for (size_t i = 0; r == CAMP_OK && i < timeline->frame_count; i++)
        add_frame(ret, &timeline->frames[i]);
    return r == CAMP_OK ? sort(ret) : r;
}

void active_groups_release(struct active_groups *groups)
{
    free(groups->groups);
    free(groups->group_of);
    groups->groups = NULL;
    groups->group_of = NULL;
}

void active_group_name(const struct active_groups *groups, const struct active_group *group,
                       char ret[ACTIVE_GROUP_NAME_SIZE])
{
    const size_t size = ACTIVE_GROUP_NAME_SIZE;
    const struct entity *entity = entity_of(groups, group->entity);
    const int colour = colour_of(groups->picture);
    size_t length;
    const char *name = group_name_of(entity, colour, &length);

    if (groups->by_process && entity->pid > 0)
        snprintf(ret, size, "%s %d", entity->name, (int)entity->pid);
    else if (group->members == 1 && colour < 0)
        entity_text(ret, entity);
    else if (length > 0)
        snprintf(ret, size, "%.*s", (int)length, name);
    else
        snprintf(ret, size, "%s", colour >= 0 ? "(none)" : "(no name)");
}

const char *active_groups_by(const struct active_groups *groups)
{
    const struct picture *picture = groups->picture;

    return picture->colour >= 0 ? picture->timeline->schema->label_names[picture->colour]
           : groups->by_process ? "process"
                                : "name";
}

void active_group_cut(const char *name, double width, char *ret, size_t size)
{
    size_t length = strlen(name);

    if (svg_text_width(name, FONT_SIZE) > width)
        length = svg_text_fit(name, FONT_SIZE, width - svg_text_width("...", FONT_SIZE));
    snprintf(ret, size, "%.*s%s", (int)length, name, name[length] != '\0' ? "..." : "");
}
