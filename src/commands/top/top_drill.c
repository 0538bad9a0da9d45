/* Switches camp top from the hosts of a fleet to the groups of one host, and back. While the groups
 * are shown, the source of the hosts stays open but is not read. So the first interval after
 * switching back covers all of that time. */
#include "top_live.h"

#include <stdio.h>
#include <string.h>

bool top_drill_can(const struct top *top)
{
    return top->facts.live && strcmp(top->facts.kind, "hosts") == 0 &&
           top->from.from.text != NULL && from_is_fleet(top->from.from.text);
}

/* Finds the first host whose name contains `wanted`. If `wanted` is empty, returns the host at
 * the top of the screen. Returns NULL if there is none. */
static const char *find_host(const struct top *top, const char *wanted, size_t scroll)
{
    const struct selected *selected = &top->table.selected;

    if (wanted[0] == '\0')
        return scroll < selected->count ? selected->rows->entities[selected->order[scroll]].name
                                        : NULL;
    for (size_t i = 0; selected->rows != NULL && i < selected->rows->entity_count; i++) {
        if (strstr(selected->rows->entities[i].name, wanted) != NULL)
            return selected->rows->entities[i].name;
    }
    return NULL;
}

static void keep(struct top_drill *drill, const struct top *top, const char *host, size_t scroll)
{
    *drill = (struct top_drill){ .source = top->source,
                                 .facts = top->facts,
                                 .table = top->table,
                                 .group = top->group,
                                 .order = top->selection.order,
                                 .scroll = scroll };
    snprintf(drill->host, sizeof drill->host, "%s", host);
}

static void restore(struct top_drill *drill, struct top *top)
{
    const char *none;

    top->source = drill->source;
    top->facts = drill->facts;
    top->table = drill->table;
    top->selection.order = drill->order;
    top_select_group(top, drill->group, &none);
    *drill = (struct top_drill){ 0 };
}

static bool open_groups(struct top_drill *drill, struct top *top, struct camp_error *error)
{
    struct from from = top->from.from;
    const char *none;

    from.host = drill->host;
    if (from_open(&from, &top->source, &top->facts, error) != CAMP_OK)
        return false;
    top->selection.order = 0;
    top_select_group(top, 0, &none);
    if (frame_table_init(&top->table, top->source->describe(top->source)) == CAMP_OK)
        return true;
    snprintf(error->message, sizeof error->message, "out of memory");
    frame_table_release(&top->table);
    source_close(top->source);
    return false;
}

bool top_drill_down(struct top_drill *drill, struct top *top, const char *wanted, size_t *scroll,
                    char problem[TOP_DRILL_PROBLEM_SIZE])
{
    struct camp_error error = { 0 };
    const char *host;

    if (drill->host[0] != '\0' || !top_drill_can(top))
        return false;
    host = top->group == 0 ? find_host(top, wanted, *scroll) : NULL;
    if (host == NULL) {
        snprintf(problem, TOP_DRILL_PROBLEM_SIZE, "%s",
                 top->group == 0 ? "there is no such host" : "g first: a row is a host then");
        return false;
    }
    keep(drill, top, host, *scroll);
    if (!open_groups(drill, top, &error)) {
        snprintf(problem, TOP_DRILL_PROBLEM_SIZE, "%s", error.message);
        restore(drill, top);
        return false;
    }
    *scroll = 0;
    return true;
}

bool top_drill_up(struct top_drill *drill, struct top *top, size_t *scroll)
{
    if (drill->host[0] == '\0')
        return false;
    source_close(top->source);
    frame_table_release(&top->table);
    *scroll = drill->scroll;
    restore(drill, top);
    return true;
}
