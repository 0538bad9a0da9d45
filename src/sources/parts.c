/* CPUs without their total. No row is copied: the total comes first, so the frame just skips it. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

struct parts_source {
    struct source source; /* first: a parts_source is a source */
    struct source *whole;
    struct frame frame; /* shares the arrays of the whole frame */
};

bool parts_has_total(const struct source *source)
{
    return strcmp(source->describe(source)->name, "cpus") == 0;
}

static const struct schema *describe(const struct source *base)
{
    const struct source *whole = ((const struct parts_source *)base)->whole;

    return whole->describe(whole);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct parts_source *source = (struct parts_source *)base;
    struct frame *parts = &source->frame;
    const struct frame *frame;
    const int r = source->whole->next(source->whole, deadline_ns, &frame, error);

    if (r != CAMP_OK)
        return r;
    *parts = *frame;
    if (parts->entity_count > 0 && parts->entities[0].id == CAMP_CPU_TOTAL) {
        parts->entity_count--;
        parts->capacity--;
        parts->entities++;
        parts->elapsed_ns++;
        parts->values += parts->schema->column_count;
    }
    *ret_frame = parts;
    return CAMP_OK;
}

static void close_parts(struct source *base)
{
    source_close(((struct parts_source *)base)->whole);
    free(base);
}

int parts_source_open(struct source *whole, struct source **ret)
{
    struct parts_source *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(whole);
        return CAMP_E_NOMEM;
    }
    source->source = (struct source){ describe, next, close_parts, NULL };
    source->whole = whole;
    *ret = &source->source;
    return CAMP_OK;
}
