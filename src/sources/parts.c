#include "parts.h"

#include <stdlib.h>

struct part_source {
    struct source source; /* must be the first member */
    struct source *whole;
    struct frame frame; /* its arrays belong to the newest frame of `whole` */
};

static struct source *whole_of(const struct source *base)
{
    return ((const struct part_source *)base)->whole;
}

static void close_part(struct source *base)
{
    source_close(whole_of(base));
    free(base);
}

static int open_part(struct source *whole, struct source functions, struct source **ret)
{
    struct part_source *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(whole);
        return CAMP_E_NOMEM;
    }
    source->source = functions;
    source->whole = whole;
    *ret = &source->source;
    return CAMP_OK;
}

static const struct schema *describe_beside(const struct source *base)
{
    return source_beside(whole_of(base))->schema;
}

static int next_beside(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                       struct camp_error *error)
{
    struct source *whole = whole_of(base);
    const struct frame *frame;
    const int r = whole->next(whole, deadline_ns, &frame, error);

    *ret_frame = source_beside(whole);
    return r;
}

static int causes(struct source *base, const struct causes **ret, struct camp_error *error)
{
    return source_causes(whole_of(base), ret, error);
}

int beside_source_open(struct source *whole, struct source **ret)
{
    source_set_idle(whole, IDLE_OMITTED); /* Only the second frame is read. */
    return open_part(
        whole, (struct source){ describe_beside, next_beside, close_part, NULL, NULL, causes },
        ret);
}

static const struct schema *describe_parts(const struct source *base)
{
    return whole_of(base)->describe(whole_of(base));
}

/* Leaves out the first row, which is the total, without copying the other rows. */
static int next_parts(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                      struct camp_error *error)
{
    struct frame *parts = &((struct part_source *)base)->frame;
    const struct frame *frame;
    const int r = whole_of(base)->next(whole_of(base), deadline_ns, &frame, error);

    if (r != CAMP_OK)
        return r;
    *parts = *frame;
    if (parts->entity_count > 0 && parts->entities[0].id == CAMP_CPU_TOTAL) {
        parts->entity_count--;
        parts->capacity--;
        parts->entities++;
        parts->elapsed_ns++;
        parts->only_states++;
        parts->values += parts->schema->column_count;
    }
    *ret_frame = parts;
    return CAMP_OK;
}

int parts_source_open(struct source *whole, struct source **ret)
{
    return open_part(whole, (struct source){ describe_parts, next_parts, close_part, NULL }, ret);
}
