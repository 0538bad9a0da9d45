/* The source above stays open, and is not asked meanwhile: what its hosts did then is in the first
 * interval after coming back. */
#include "top_drill.h"

#include <stdio.h>
#include <string.h>

bool top_drill_can(const struct top *top)
{
    return top->is_any && top->facts.live && strcmp(top->facts.kind, "hosts") == 0 &&
           top->from.from.text != NULL && from_is_fleet(top->from.from.text);
}

/* NULL: there is none. */
static const char *find_host(const struct top *top, const char *wanted, size_t scroll)
{
    const struct top_any_rows *rows = &top->any.rows;

    if (wanted[0] == '\0')
        return scroll < rows->count ? rows->frame->entities[rows->order[scroll]].name : NULL;
    for (size_t i = 0; rows->frame != NULL && i < rows->frame->entity_count; i++) {
        if (strstr(rows->frame->entities[i].name, wanted) != NULL)
            return rows->frame->entities[i].name;
    }
    return NULL;
}

static void keep(struct top_drill *drill, const struct top *top, const char *host, size_t scroll)
{
    *drill = (struct top_drill){ .source = top->threads,
                                 .facts = top->facts,
                                 .any = top->any,
                                 .group = top->group,
                                 .sort = top->sort,
                                 .scroll = scroll };
    snprintf(drill->host, sizeof drill->host, "%s", host);
}

static void restore(struct top_drill *drill, struct top *top)
{
    top->threads = drill->source;
    top->facts = drill->facts;
    top->any = drill->any;
    top->group = drill->group;
    top->sort = drill->sort;
    *drill = (struct top_drill){ 0 };
}

/* Groups of the host that `drill` names in place of what `top` has. */
static bool open_groups(struct top_drill *drill, struct top *top, struct camp_error *error)
{
    struct from from = top->from.from;

    from.host = drill->host;
    if (from_open(&from, &top->threads, &top->facts, error) != CAMP_OK)
        return false;
    top->any = (struct top_any){ 0 };
    top->group = -1;
    top->sort = 0;
    if (top_any_init(&top->any, top->threads->describe(top->threads), &top->facts) == CAMP_OK)
        return true;
    snprintf(error->message, sizeof error->message, "out of memory");
    top_any_release(&top->any);
    source_close(top->threads);
    return false;
}

bool top_drill_down(struct top_drill *drill, struct top *top, const char *wanted, size_t *scroll,
                    char problem[TOP_DRILL_PROBLEM_SIZE])
{
    struct camp_error error = { 0 };
    const char *host;

    if (drill->host[0] != '\0' || !top_drill_can(top))
        return false;
    host = top->group < 0 ? find_host(top, wanted, *scroll) : NULL;
    if (host == NULL) {
        snprintf(problem, TOP_DRILL_PROBLEM_SIZE, "%s",
                 top->group < 0 ? "there is no such host" : "g first: a row is a host then");
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
    source_close(top->threads);
    top_any_release(&top->any);
    *scroll = drill->scroll;
    restore(drill, top);
    return true;
}
