#include "top_any_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_VERTEX 1 /* of vertices_usual() */

/* -------------------------------------------------------------------------------- Orders -- */

/* Behind "busy" and the states. */
static int unaccounted_sort(const struct schema *schema)
{
    return 1 + (int)schema->state_count;
}

int top_any_sort_count(const struct schema *schema)
{
    return unaccounted_sort(schema) + 1 + (int)schema->label_count + 1;
}

void top_any_stem(const struct column *column, char ret[TOP_ANY_WORD_SIZE])
{
    const size_t length = strlen(column->name);
    const bool has_unit = length > 3 && strcmp(column->name + length - 3, "_ns") == 0;

    snprintf(ret, TOP_ANY_WORD_SIZE, "%.*s", (int)(has_unit ? length - 3 : length), column->name);
}

void top_any_sort_name(const struct schema *schema, int sort, char ret[TOP_ANY_WORD_SIZE])
{
    const int label = sort - unaccounted_sort(schema) - 1;

    if (sort == 0)
        snprintf(ret, TOP_ANY_WORD_SIZE, "busy");
    else if (sort < unaccounted_sort(schema))
        top_any_stem(&schema->columns[sort - 1], ret);
    else if (label < 0)
        snprintf(ret, TOP_ANY_WORD_SIZE, "unaccounted");
    else
        snprintf(ret, TOP_ANY_WORD_SIZE, "%s",
                 label < (int)schema->label_count ? schema->label_names[label] : "name");
}

/* ----------------------------------------------------------------------------- Selecting -- */

static bool is_selected(const struct entity *entity, const regex_t *filter)
{
    bool wanted = filter == NULL || regexec(filter, entity->name, 0, NULL, 0) == 0;

    for (size_t i = 0; !wanted && entity->labels != NULL && i < entity->labels->count; i++)
        wanted = regexec(filter, entity->labels->values[i], 0, NULL, 0) == 0;
    return wanted;
}

static int reserve(struct top_any_rows *rows, size_t count)
{
    if (count < rows->capacity)
        return CAMP_OK;
    free(rows->order);
    free(rows->keys);
    rows->capacity = 2 * count + 1;
    rows->order = calloc(rows->capacity, sizeof *rows->order);
    rows->keys = calloc(rows->capacity, sizeof *rows->keys);
    if (rows->order != NULL && rows->keys != NULL)
        return CAMP_OK;
    rows->capacity = 0;
    return CAMP_E_NOMEM;
}

/* ------------------------------------------------------------------------------ Grouping -- */

static int group_rows(struct top_any_rows *ret, const struct frame *frame, size_t label)
{
    int r;

    if (ret->groups.frame.schema != frame->schema || ret->groups.label != label) {
        label_groups_release(&ret->groups);
        label_groups_init(&ret->groups, frame->schema, label);
    }
    r = label_groups_fill(&ret->groups, frame);
    ret->frame = &ret->groups.frame;
    return r;
}

/* ------------------------------------------------------------------------------ Ordering -- */

struct ordering {
    const struct frame *frame;
    const uint64_t *keys;
    int label; /* by this label's text; -1: by the keys */
    bool by_name;
};

bool top_any_is_idle(const struct vertices *vertices, size_t state)
{
    return state < VERTICES_STATES_MAXIMUM && vertices->of_state[state] == 1 + IDLE_VERTEX;
}

static uint64_t busy_ns(const struct vertices *vertices, const struct frame *frame, size_t row)
{
    const int64_t unaccounted = frame_unaccounted_ns(frame, row);
    uint64_t sum = unaccounted > 0 ? (uint64_t)unaccounted : 0;

    for (size_t i = 0; i < frame->schema->state_count; i++)
        sum += top_any_is_idle(vertices, i) ? 0 : frame_values(frame, row)[i];
    return sum;
}

static uint64_t key_of(const struct frame *frame, size_t row, int sort,
                       const struct vertices *vertices)
{
    const int64_t unaccounted = frame_unaccounted_ns(frame, row);

    if (sort == 0)
        return busy_ns(vertices, frame, row);
    if (sort < unaccounted_sort(frame->schema))
        return frame_values(frame, row)[sort - 1];
    return (uint64_t)(unaccounted < 0 ? -unaccounted : unaccounted); /* both are as wrong */
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct ordering *ordering = context;
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const struct entity *entities = ordering->frame->entities;
    int by_text = 0;

    if (ordering->by_name)
        by_text = strcmp(entities[left].name, entities[right].name);
    else if (ordering->label >= 0)
        by_text = strcmp(labels_value(entities[left].labels, (size_t)ordering->label),
                         labels_value(entities[right].labels, (size_t)ordering->label));
    if (by_text != 0)
        return by_text;
    if (ordering->keys[left] != ordering->keys[right])
        return ordering->keys[left] > ordering->keys[right] ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* What is the same by a text is ordered by what is not idle. */
static void order_rows(struct top_any_rows *rows, int sort)
{
    const struct schema *schema = rows->frame->schema;
    const int text = sort - unaccounted_sort(schema) - 1;
    struct vertices vertices = { 0 };
    struct ordering ordering = { rows->frame, rows->keys, -1, text == (int)schema->label_count };

    if (text >= 0 && !ordering.by_name)
        ordering.label = text;
    vertices_usual(&vertices, schema, 3);
    for (size_t i = 0; i < rows->frame->entity_count; i++)
        rows->keys[i] = key_of(rows->frame, i, text >= 0 ? 0 : sort, &vertices);
    qsort_r(rows->order, rows->count, sizeof *rows->order, compare_rows, &ordering);
}

int top_any_rows_fill(struct top_any_rows *ret, const struct frame *frame,
                      const struct top_any_selection *selection)
{
    int r = CAMP_OK;

    ret->frame = frame;
    if (selection->group >= 0)
        r = group_rows(ret, frame, (size_t)selection->group);
    if (r == CAMP_OK)
        r = reserve(ret, ret->frame->entity_count);
    if (r != CAMP_OK)
        return r;
    ret->count = 0;
    for (size_t i = 0; i < ret->frame->entity_count; i++) {
        if (is_selected(&ret->frame->entities[i], selection->filter))
            ret->order[ret->count++] = i;
    }
    order_rows(ret, selection->sort);
    if (selection->top > 0 && ret->count > selection->top)
        ret->count = selection->top;
    return CAMP_OK;
}

void top_any_rows_release(struct top_any_rows *rows)
{
    label_groups_release(&rows->groups);
    free(rows->order);
    free(rows->keys);
    *rows = (struct top_any_rows){ 0 };
}
