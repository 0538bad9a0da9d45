#include "compare_picture.h"

#include "commands/report/report_picture.h"
#include "ledger/selection.h"
#include "ledger/words.h"
#include "program/command.h"
#include "views/pictures/arrows.h"

#include <stdlib.h>
#include <string.h>

/* The mean of an entity over one recording. */
struct mean {
    struct weights weights;
    double elapsed_s;
};

static int set_axes(const char *text, const struct compare_side *side, struct axes *ret)
{
    const struct schema *schema = side->page.schema;
    const struct axes *used;
    const int status = page_resolve_axes(text, schema, 3, ret, &used);

    if (status != OPTIONS_GO_ON)
        return status;
    return used != NULL ? STATUS_OK
                        : complain(STATUS_USAGE,
                                   "%s has %zu %s, too few for the three vertices of a picture",
                                   side->page.facts.name, schema->state_count,
                                   noun_of(schema->state_count, "state", "states"));
}

/* Returns the index of the state of A with the name of state `state` of B, or the number of states
 * of A. */
static size_t state_in_a(const struct compare_side sides[2], size_t state)
{
    const struct schema *first = sides[0].page.schema, *second = sides[1].page.schema;
    size_t ret = 0;

    while (ret < first->state_count &&
           strcmp(first->columns[ret].name, second->columns[state].name) != 0)
        ret++;
    return ret;
}

/* Sets the vertices of the states of B to those of the states of A with the same name. Returns an
 * exit status after an error message if A lacks a state of B. */
static int map_states(const struct compare_side sides[2], const struct vertices *vertices,
                      struct vertices *ret)
{
    const struct schema *first = sides[0].page.schema, *second = sides[1].page.schema;
    char name[ORDER_NAME_SIZE];

    for (size_t i = 0; i < second->state_count; i++) {
        const size_t at = state_in_a(sides, i);

        column_stem(&second->columns[i], name);
        if (at == first->state_count)
            return complain(STATUS_USAGE,
                            "--picture: A lacks the state %s of B, so the usual corners are not "
                            "those of both: give --axes",
                            name);
        ret->of_state[i] = vertices->of_state[at];
    }
    return STATUS_OK;
}

/* Returns whether the vertices of A and B have the same names and the same states. */
static bool are_alike(const struct compare_side sides[2], const struct vertices *one,
                      const struct vertices *other)
{
    for (size_t i = 0; i < one->count; i++) {
        if (strcmp(one->names[i], other->names[i]) != 0)
            return false;
    }
    for (size_t i = 0; i < sides[1].page.schema->state_count; i++) {
        const size_t at = state_in_a(sides, i);

        if (at < sides[0].page.schema->state_count && one->of_state[at] != other->of_state[i])
            return false;
    }
    return true;
}

/* Resolves the axes of both recordings, which must mean the same. */
static int set_both_axes(const char *text, const struct compare_side sides[2], struct axes ret[2])
{
    int status = set_axes(text, &sides[0], &ret[0]);

    if (status == STATUS_OK)
        status = set_axes(text, &sides[1], &ret[1]);
    if (status == STATUS_OK && text == NULL &&
        !are_alike(sides, &ret[0].vertices, &ret[1].vertices))
        status = map_states(sides, &ret[0].vertices, &ret[1].vertices);
    return status;
}

/* Adds the rows of a recording to ret[entity count]. */
static void add_means(const struct compare_side *side, const struct vertices *vertices,
                      size_t entity_count, struct mean *ret)
{
    const struct timeline *timeline = &side->timeline;

    for (size_t row = 0; row < timeline->row_count; row++) {
        const int64_t id = timeline->registry.entities[timeline->entities[row]].entity.id;
        const size_t entity = (size_t)(id - COMPARE_ID);
        struct weights weights;

        if (id >= COMPARE_ID && entity < entity_count &&
            timeline_weigh(timeline, row, vertices, &weights))
            weights_add(&ret[entity].weights, &ret[entity].elapsed_s, &weights,
                        (double)timeline->elapsed_s[row]);
    }
}

/* Adds an arrow for each entity that has one of the first `rows` rows, in their order. */
static size_t fill_arrows(const struct comparison *comparison, size_t rows,
                          struct mean *const means[2], bool *is_added, struct arrow *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < rows; i++) {
        const struct compared_row *row = &comparison->rows[i];
        const size_t entity = row->entity;
        struct arrow *arrow = &ret[count];

        if (is_added[entity])
            continue;
        is_added[entity] = true;
        *arrow = (struct arrow){ .name = comparison->entities->items[entity].name,
                                 .is_notable = row->verdict >= DIFFERENCE_MORE };
        for (int side = 0; side < 2; side++) {
            arrow->weights[side] = means[side][entity].weights;
            arrow->has[side] = means[side][entity].elapsed_s > 0;
        }
        count++;
    }
    return count;
}

static int draw(void *context, FILE *stream)
{
    return arrows_write(stream, context);
}

int compare_picture(const char *output, const char *axes, const struct compare_side sides[2],
                    const struct comparison *comparison, size_t rows)
{
    const size_t most = rows > 0 && rows < comparison->count ? rows : comparison->count;
    const size_t entities = comparison->entities->count;
    struct axes resolved[2];
    struct mean *means[2] = { calloc(entities + 1, sizeof(struct mean)),
                              calloc(entities + 1, sizeof(struct mean)) };
    struct arrow *arrows = calloc(entities + 1, sizeof *arrows);
    bool *is_added = calloc(entities + 1, sizeof *is_added);
    struct arrows_picture picture = { .names = { sides[0].page.facts.name,
                                                 sides[1].page.facts.name },
                                      .vertices = &resolved[0].vertices,
                                      .arrows = arrows };
    int status = set_both_axes(axes, sides, resolved);

    if (status == STATUS_OK &&
        (means[0] == NULL || means[1] == NULL || arrows == NULL || is_added == NULL))
        status = complain(STATUS_FAILURE, "no memory for the picture");
    if (status == STATUS_OK) {
        for (int i = 0; i < 2; i++)
            add_means(&sides[i], &resolved[i].vertices, entities, means[i]);
        picture.count = fill_arrows(comparison, most, means, is_added, arrows);
        status = picture_file_draw(output, draw, &picture);
    }
    free(means[0]);
    free(means[1]);
    free(arrows);
    free(is_added);
    return status;
}
