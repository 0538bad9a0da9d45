/* Selects what a row of camp top is. For threads, a row is a thread or a group of threads. For
 * any other source, a row is a row of the source, or all rows with the same value of a label. */
#include "program/command.h"
#include "sources/containers/containers.h"
#include "sources/containers/thread_cgroups.h"
#include "top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const top_thread_groups[] = { "thread",    "process", "user", "command",  "cgroup",
                                          "container", "pod",     "unit", "workload", NULL };

bool top_group_is_label(int group)
{
    return group >= TOP_CONTAINER && group <= TOP_UNIT;
}

int top_group_count(const struct top *top)
{
    if (top->why) /* The lengths of waits cannot be added up. */
        return 1;
    return top->has_threads ? TOP_WORKLOAD + 1
                            : 1 + (int)top->source->describe(top->source)->label_count +
                                  (top->labels.more_count > 0);
}

/* Returns whether a group is that of --group with several labels, which is the last one. */
static bool is_of_several_labels(const struct top *top, int group)
{
    return !top->has_threads && group > (int)top->source->describe(top->source)->label_count;
}

const char *top_group_name(const struct top *top, int group)
{
    if (top->has_threads)
        return top_thread_groups[group];
    if (is_of_several_labels(top, group))
        return top->labels.title;
    return group > 0 ? top->source->describe(top->source)->label_names[group - 1] : NULL;
}

static const char *row_name(void *context, const struct entity *row)
{
    struct top *top = context;

    switch (top->selection.grouping.key) {
    case GROUP_USER:
        return user_names_get(&top->users, row->uid);
    case GROUP_CGROUP:
        return cgroup_paths_name(&top->cgroups, (uint64_t)row->id);
    case GROUP_NUMBER:
        if (top->group != TOP_WORKLOAD) {
            const char *value = labels_value((labels_id)row->id, top->label);

            return value[0] != '\0' ? value : "(none)";
        }
        return workloads_name(&top->workloads.rules, (size_t)row->id);
    case GROUP_NONE:
    case GROUP_THREAD:
    case GROUP_PROCESS:
    case GROUP_NAME:
    case GROUP_LABEL:
        break;
    }
    return row->name;
}

/* Exited threads with the same name share a row, but only in text. */
static enum group_key key_of(const struct top *top, int group)
{
    static const enum group_key keys[] = {
        [TOP_THREAD] = GROUP_NONE,  [TOP_PROCESS] = GROUP_PROCESS, [TOP_USER] = GROUP_USER,
        [TOP_COMMAND] = GROUP_NAME, [TOP_CGROUP] = GROUP_CGROUP,   [TOP_CONTAINER] = GROUP_NUMBER,
        [TOP_POD] = GROUP_NUMBER,   [TOP_UNIT] = GROUP_NUMBER,     [TOP_WORKLOAD] = GROUP_NUMBER,
    };

    if (!top->has_threads)
        return group > 0 ? GROUP_LABEL : GROUP_NONE;
    return group == TOP_THREAD && top->style.for_text ? GROUP_THREAD : keys[group];
}

static bool is_kind(const struct top *top, const char *const *kinds)
{
    while (*kinds != NULL && strcmp(*kinds, top->facts.kind) != 0)
        kinds++;
    return *kinds != NULL;
}

static const char *user_name(void *context, uint32_t uid)
{
    return user_names_get(&((struct top *)context)->users, uid);
}

static void fill_style(struct top *top, enum group_key key)
{
    static const char *const singles[] = { "threads", "processes", NULL };
    static const char *const numbered[] = { "threads", "processes", "users", NULL };
    static const char *const cpus[] = { "cpus", "check", NULL }; /* check: the CPUs beside it */
    static const char *const made_of_threads[] = { "threads",  "processes", "users",
                                                   "commands", "cgroups",   NULL };
    const bool is_row = key == GROUP_NONE || key == GROUP_THREAD || key == GROUP_PROCESS;
    struct frame_style *style = &top->style;

    style->of_threads = top->why || is_kind(top, made_of_threads);
    style->of_cpus = is_kind(top, cpus);
    style->numbered = !top->why && is_kind(top, numbered) && (is_row || key == GROUP_USER);
    style->is_single = !top->why && is_row && (!style->of_threads || is_kind(top, singles));
    style->keeps_end = key == GROUP_CGROUP || (key == GROUP_NUMBER && top->group != TOP_WORKLOAD);
    style->hides_labels = top->has_threads || top->why;
    style->user = style->numbered ? user_name : NULL;
    top_use_columns(top);
}

/* Finds a label of the schema. Returns false, and leaves *ret unchanged, if there is none of this
 * name.
 */
static bool find_label(const struct schema *schema, const char *name, const char *end, size_t *ret)
{
    char wanted[32];
    size_t label;

    snprintf(wanted, sizeof wanted, "%s%s", name, end);
    label = schema_find_label(schema, wanted);
    if (label == SIZE_MAX)
        return false;
    *ret = label;
    return true;
}

static bool has_label(struct top *top, int group)
{
    return find_label(top->source->describe(top->source), top_thread_groups[group], "",
                      &top->label);
}

static bool has_quota(struct top *top, int group)
{
    return top->has_threads && top_group_is_label(group) &&
           find_label(top->source->describe(top->source), top_thread_groups[group], "_quota",
                      &top->style.quota_label);
}

void top_turn_percent(struct top *top)
{
    enum percent_of next = top->style.percent_of + 1;

    if (next == PERCENT_OF_QUOTA && !has_quota(top, top->group))
        next++;
    top->style.percent_of = next <= PERCENT_OF_QUOTA ? next : PERCENT_OF_INTERVAL;
}

int top_select_group(struct top *top, int group, const char **ret_problem)
{
    struct selection *selection = &top->selection;

    *ret_problem = NULL;
    if (top->has_threads && group == TOP_WORKLOAD && top->workloads.rules.count == 0)
        *ret_problem = "--group workload takes --workload FILE; --help shows what is in it";
    else if (top->has_threads && group == TOP_CGROUP && top->cgroups.mount == NULL &&
             !thread_cgroups_open(&top->cgroups))
        *ret_problem = "no cgroups here: no cgroup file system is mounted";
    else if (top->has_threads && top_group_is_label(group) && !has_label(top, group))
        *ret_problem =
            "this recording has no names of containers, pods and units: record them with "
            "camp record --containers";
    if (*ret_problem != NULL)
        return group == TOP_WORKLOAD ? STATUS_USAGE : STATUS_FAILURE;
    top->group = group;
    if (top->style.percent_of == PERCENT_OF_QUOTA && !has_quota(top, group))
        top->style.percent_of = PERCENT_OF_INTERVAL;
    selection->grouping =
        (struct grouping){ .key = key_of(top, group), .label = group > 0 ? (size_t)group - 1 : 0 };
    if (is_of_several_labels(top, group))
        selection->grouping = top->labels;
    selection->name = row_name;
    selection->context = top;
    fill_style(top, selection->grouping.key);
    source_set_division(top->source, selection->grouping.key == GROUP_LABEL
                                         ? from_group_division(top_group_name(top, group))
                                         : NULL);
    /* The interval on the screen keeps its rows. */
    source_set_idle(top->source,
                    selection->grouping.key == GROUP_NONE || selection->grouping.key == GROUP_THREAD
                        ? IDLE_EACH
                        : IDLE_BY_PROCESS);
    return OPTIONS_GO_ON;
}

bool top_can_be_tree(struct top *top)
{
    size_t label = 0;

    top->selection.tree_label = 0;
    if (top->has_threads)
        return true;
    if (!find_label(top->source->describe(top->source), SOURCE_LABEL_BLOCKER, "", &label))
        return false;
    top->selection.tree_label = label + 1;
    return true;
}

const char *top_row_noun(const struct top *top)
{
    const struct frame_facts facts = { .kind = top->facts.kind };
    const char *group = top_group_name(top, top->group);

    return group != NULL ? group
                         : kind_noun(frame_kind(&facts, top->source->describe(top->source)), 1);
}

/* A row is numbered by a tuple that has its label alone. */
static int number_labels(struct top *top, const struct frame *picked)
{
    const char *values[LABELS_MOST] = { NULL };

    free(top->label_numbers);
    top->label_numbers = calloc(picked->entity_count + 1, sizeof *top->label_numbers);
    if (top->label_numbers == NULL)
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < picked->entity_count; i++) {
        values[top->label] = labels_value(picked->entities[i].labels, top->label);
        top->label_numbers[i] = (int64_t)labels_intern(values, top->label + 1);
    }
    top->selection.grouping.numbers = top->label_numbers;
    return CAMP_OK;
}

int top_number_groups(struct top *top)
{
    const struct frame *picked = top->table.selected.picked;
    int r = CAMP_OK;

    if (top->has_threads && top_group_is_label(top->group))
        return number_labels(top, picked);
    if (top->selection.grouping.key == GROUP_CGROUP)
        return cgroup_paths_resolve(&top->cgroups, picked);
    if (top->selection.grouping.key == GROUP_NUMBER) {
        r = top_workloads_find(&top->workloads, &top->users, picked);
        top->selection.grouping.numbers = top->workloads.numbers;
    }
    return r;
}
