/* The frame beside another source's frames as a source: the CPUs in a snapshot of threads. */
#include "beside.h"

#include <stdlib.h>

struct beside_source {
    struct source source; /* first: a beside_source is a source */
    struct source *whole;
};

static const struct schema *describe(const struct source *base)
{
    return source_beside(((const struct beside_source *)base)->whole)->schema;
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct source *whole = ((struct beside_source *)base)->whole;
    const struct frame *frame;
    const int r = whole->next(whole, deadline_ns, &frame, error);

    *ret_frame = source_beside(whole);
    return r;
}

static void close_beside(struct source *base)
{
    source_close(((struct beside_source *)base)->whole);
    free(base);
}

int beside_source_open(struct source *whole, struct source **ret)
{
    struct beside_source *source = calloc(1, sizeof *source);

    if (source == NULL) {
        source_close(whole);
        return CAMP_E_NOMEM;
    }
    source->source = (struct source){ describe, next, close_beside, NULL };
    source->whole = whole;
    *ret = &source->source;
    return CAMP_OK;
}
