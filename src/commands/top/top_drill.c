/* Switches camp top from the hosts of a fleet to the groups of one host, and back. While the groups
 * are shown, the source of the hosts stays open but is not read. So the first interval after
 * switching back covers all of that time. A group by labels, such as a database server, is switched
 * to its rows, such as its sessions, of the same source. */
#include "top_live.h"

#include <stdio.h>
#include <string.h>

static bool are_hosts(const struct top *top)
{
    return top->facts.live && strcmp(top->facts.kind, "hosts") == 0 &&
           top->from.from.text != NULL && from_is_fleet(top->from.from.text);
}

static bool are_groups(const struct top *top)
{
    return !top->has_threads && top->selection.grouping.key == GROUP_LABEL;
}

bool top_drill_can(const struct top *top)
{
    return are_hosts(top) || are_groups(top);
}

/* Finds the first row whose name contains `wanted`. If `wanted` is empty, returns the row at the
 * top of the screen. Returns NULL if there is none. */
static const struct entity *find_row(const struct top *top, const char *wanted, size_t scroll)
{
    const struct selected *selected = &top->table.selected;

    if (wanted[0] == '\0')
        return scroll < selected->count ? &selected->rows->entities[selected->order[scroll]] : NULL;
    for (size_t i = 0; selected->rows != NULL && i < selected->rows->entity_count; i++) {
        if (strstr(selected->rows->entities[i].name, wanted) != NULL)
            return &selected->rows->entities[i];
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

    if (drill->source != NULL) {
        top->source = drill->source;
        top->facts = drill->facts;
        top->table = drill->table;
    }
    top->selection.only_count = 0;
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

/* Shows only the rows whose labels are those of a group. */
static void show_rows(struct top_drill *drill, struct top *top, const struct entity *group,
                      size_t scroll)
{
    const struct grouping grouping = top->selection.grouping;
    const size_t labels = top->source->describe(top->source)->label_count;
    const char *none;
    size_t count = 0;

    for (size_t i = 0; i < labels && count < GROUPING_LABELS_MOST; i++) {
        if (!grouping_has_label(&grouping, i))
            continue;
        drill->values[count].label = i;
        snprintf(drill->values[count].text, sizeof drill->values[count].text, "%s",
                 labels_value(group->labels, i));
        count++;
    }
    drill->group = top->group;
    drill->order = top->selection.order;
    drill->scroll = scroll;
    snprintf(drill->host, sizeof drill->host, "%s", group->name);
    top->selection.only = drill->values;
    top->selection.only_count = count;
    top_select_group(top, 0, &none);
}

bool top_drill_down(struct top_drill *drill, struct top *top, const char *wanted, size_t *scroll,
                    char problem[TOP_DRILL_PROBLEM_SIZE])
{
    const bool has_hosts = are_hosts(top);
    struct camp_error error = { 0 };
    const struct entity *row;

    if (drill->host[0] != '\0' || !top_drill_can(top))
        return false;
    row = !has_hosts || top->group == 0 ? find_row(top, wanted, *scroll) : NULL;
    if (row == NULL) {
        snprintf(problem, TOP_DRILL_PROBLEM_SIZE, "there is no such %s", top_row_noun(top));
        if (has_hosts && top->group != 0)
            snprintf(problem, TOP_DRILL_PROBLEM_SIZE, "g first: a row is a host then");
        return false;
    }
    if (!has_hosts) {
        show_rows(drill, top, row, *scroll);
        *scroll = 0;
        return true;
    }
    keep(drill, top, row->name, *scroll);
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
    if (drill->source != NULL) {
        source_close(top->source);
        frame_table_release(&top->table);
    }
    *scroll = drill->scroll;
    restore(drill, top);
    return true;
}
