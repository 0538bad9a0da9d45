#include "events_beside.h"

#include "groups.h"
#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

#define NAME "wait_events" /* of the schema, and so of the table of a recording */

/* The rows by wait event as a source that label_groups_open() can add up. */
struct event_rows {
    struct source source; /* must be the first member */
    struct source *sessions;
    struct schema schema;
    struct frame frame; /* its arrays belong to the second frame of `sessions` */
};

struct events_beside {
    struct source source; /* must be the first member */
    struct source *sessions;
    struct source *groups; /* of event_rows */
    const struct frame *frame;
};

static const struct schema *describe_rows(const struct source *base)
{
    return &((const struct event_rows *)base)->schema;
}

static int next_rows(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                     struct camp_error *error)
{
    struct event_rows *rows = (struct event_rows *)base;
    const struct frame *events = source_beside(rows->sessions);

    (void)deadline_ns;
    (void)error;
    if (events != NULL)
        rows->frame = *events;
    rows->frame.schema = &rows->schema;
    *ret_frame = &rows->frame;
    return CAMP_OK;
}

static void close_rows(struct source *base)
{
    free(base);
}

static bool stays(const char *label)
{
    static const char *const others[] = { "leader", SOURCE_LABEL_BLOCKER, SOURCE_LABEL_ROOT_BLOCKER,
                                          SOURCE_LABEL_BLOCKING_ACTIVITY };

    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        if (strcmp(label, others[i]) == 0)
            return false;
    }
    return true;
}

/* Returns how to group by all labels that stay, the event first. */
static struct grouping grouping_of(const struct schema *schema)
{
    struct grouping ret = { .key = GROUP_LABEL };

    for (size_t i = 0; i < schema->label_count; i++) {
        const char *name = schema->label_names[i];

        if (strcmp(name, SOURCE_LABEL_WAIT_EVENT) == 0)
            ret.label = i;
        else if (stays(name))
            ret.more_labels[ret.more_count++] = i;
    }
    return ret;
}

static int open_groups(struct source *sessions, struct source **ret)
{
    const struct schema *schema = sessions->describe(sessions);
    const struct grouping grouping = grouping_of(schema);
    struct event_rows *rows = calloc(1, sizeof *rows);

    if (rows == NULL)
        return CAMP_E_NOMEM;
    rows->source =
        (struct source){ .describe = describe_rows, .next = next_rows, .close = close_rows };
    rows->sessions = sessions;
    rows->schema = *schema;
    rows->schema.name = NAME;
    return label_groups_open(&rows->source, &grouping, ret);
}

static const struct schema *describe(const struct source *base)
{
    const struct source *sessions = ((const struct events_beside *)base)->sessions;

    return sessions->describe(sessions);
}

static int next(struct source *base, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    struct events_beside *events = (struct events_beside *)base;
    int r = events->sessions->next(events->sessions, deadline_ns, ret_frame, error);

    return r == CAMP_OK ? events->groups->next(events->groups, deadline_ns, &events->frame, error)
                        : r;
}

static const struct frame *beside(const struct source *base)
{
    return ((const struct events_beside *)base)->frame;
}

static void close_events(struct source *base)
{
    struct events_beside *events = (struct events_beside *)base;

    source_close(events->groups);
    source_close(events->sessions);
    free(events);
}

int events_beside_open(struct source *sessions, struct source **ret)
{
    struct events_beside *events = calloc(1, sizeof *events);

    if (events == NULL) {
        source_close(sessions);
        return CAMP_E_NOMEM;
    }
    events->source = (struct source){
        .describe = describe, .next = next, .close = close_events, .beside = beside
    };
    events->sessions = sessions;
    if (open_groups(sessions, &events->groups) != CAMP_OK) {
        close_events(&events->source);
        return CAMP_E_NOMEM;
    }
    source_set_division(sessions, SOURCE_DIVISION_BESIDE);
    *ret = &events->source;
    return CAMP_OK;
}
