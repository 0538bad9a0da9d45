/* Checks the options of camp top for threads and for any other source: the rows, their order,
 * and options that exclude each other. top.c has the table of options. */
#include "ledger/array.h"
#include "program/command.h"
#include "top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the value of an option in names[count]. If the value is NULL, *ret is `usual`. Returns
 * OPTIONS_GO_ON, or STATUS_USAGE after an error message. */
static int find_choice(const char *option, const char *text, const char *const *names, int count,
                       int usual, int *ret)
{
    char all[4000] = "";

    *ret = usual;
    for (int i = 0; text != NULL && i < count; i++) {
        const size_t length = strlen(all);

        if (strcmp(names[i], text) == 0) {
            *ret = i;
            return OPTIONS_GO_ON;
        }
        snprintf(all + length, sizeof all - length, "%s %s", i > 0 ? "," : "", names[i]);
    }
    return text == NULL ? OPTIONS_GO_ON
                        : complain(STATUS_USAGE, "--%s %s: takes one of%s", option, text, all);
}

bool top_asks_for_threads(const struct top *top)
{
    return top->from.from.text == NULL || strcmp(top->from.from.text, "threads") == 0;
}

int top_resolve_thread_options(struct top *top)
{
    int status =
        find_choice("group", top->group_text, top_thread_groups, TOP_WORKLOAD + 1, -1, &top->group);

    if (status != OPTIONS_GO_ON)
        return status;
    if (top->workload_file != NULL) {
        if (top->group >= 0 && top->group != TOP_WORKLOAD)
            return complain(STATUS_USAGE, "--workload goes with --group workload");
        top->group = TOP_WORKLOAD;
        status = top_workloads_read(&top->workloads, top->workload_file);
    }
    if (status == OPTIONS_GO_ON && top->percent_of == PERCENT_OF_QUOTA &&
        !top_group_is_label(top->group))
        return complain(STATUS_USAGE,
                        "--percent-of quota goes with --group container, pod or unit");
    if (status == OPTIONS_GO_ON && top->selection.tree && top->group >= 0 &&
        top->group != TOP_PROCESS)
        return complain(STATUS_USAGE, "--tree goes with --group process");
    return status;
}

/* For each enum top_group, the source (--from) that is used if microstates are unavailable. It has
 * only what the scheduler counts. NULL if there is no such source. */
static const char *const rows_without_states[] = {
    [TOP_THREAD] = "threads",   [TOP_PROCESS] = "processes", [TOP_USER] = "users",
    [TOP_COMMAND] = "commands", [TOP_CGROUP] = NULL,         [TOP_CONTAINER] = "threads",
    [TOP_POD] = "threads",      [TOP_UNIT] = "threads",      [TOP_WORKLOAD] = NULL,
};

static const char *name_columns(const struct top *top)
{
    return top->columns == TOP_COLUMNS_PEA ? "columns pea" : "columns prstat";
}

/* Returns the first given option that needs microstates, or NULL. */
static const char *option_of_states(const struct top *top)
{
    if (top->selection.tree)
        return "tree";
    if (top->workload_file != NULL)
        return "workload";
    if (top->columns != TOP_COLUMNS_CAMP)
        return name_columns(top);
    if (top->group_text != NULL && rows_without_states[top->group] == NULL)
        return "group cgroup";
    if (top->percent_of == PERCENT_OF_QUOTA)
        return "percent-of quota";
    return NULL;
}

/* Returns whether --sort is a state that the scheduler does not count. An unknown name is
 * refused when the source is open, with a list of the known names. */
static bool sorts_by_state(const struct top *top)
{
    for (int i = 0; top->sort_text != NULL && i < CAMP_STATE_COUNT; i++) {
        if (i != CAMP_STATE_RUN_QUEUE && strcmp(top->sort_text, camp_state_name(i)) == 0)
            return true;
    }
    return false;
}

void top_prepare_from(struct top *top)
{
    struct from *from = &top->from.from;

    from->microstates_alone = option_of_states(top) != NULL || sorts_by_state(top);
    if (top->group_text != NULL && top->group != TOP_THREAD)
        from->rows_without_states = rows_without_states[top->group];
    from->names_containers = top_group_is_label(top->group);
    from->pids = top->processes.pids;
    from->pid_count = top->processes.count;
    from->no_kernel_threads = !top->kernel_threads;
}

/* A recording has the pids of processes, but no command lines. */
static int resolve_recorded(struct top *top)
{
    const int status = selection_numbers(&top->processes);

    if (status == OPTIONS_GO_ON && workloads_need_lines(&top->workloads.rules))
        return complain(STATUS_USAGE,
                        "--workload %s: a recording does not know command lines (line=); it takes "
                        "rules of name= and user=",
                        top->workload_file);
    return status;
}

static int resolve_threads(struct top *top)
{
    const char *problem;
    int status = OPTIONS_GO_ON;

    if (!top_asks_for_threads(top))
        status = top_resolve_thread_options(top);
    if (status == OPTIONS_GO_ON && !top->facts.live)
        status = resolve_recorded(top);
    if (status != OPTIONS_GO_ON)
        return status;
    top->selection.pid_count = top->processes.count;
    top->selection.no_kernel_threads = !top->kernel_threads;
    status = top_select_group(top, top->group >= 0 ? top->group : TOP_PROCESS, &problem);
    return status == OPTIONS_GO_ON ? status : complain(status, "%s", problem);
}

/* Returns the first given option that is only for threads, or NULL. */
static const char *option_of_threads(struct top *top)
{
    const struct given_option options[] = {
        { "pid", top->processes.texts.count > 0 },
        { "tree", top->selection.tree && !top_can_be_tree(top) },
        { "workload", top->workload_file != NULL },
        { name_columns(top), top->columns != TOP_COLUMNS_CAMP },
        { "no-kernel-threads", !top->kernel_threads },
        { "percent-of quota", top->percent_of == PERCENT_OF_QUOTA },
    };

    return option_first_given(options, ARRAY_COUNT(options));
}

static int refuse_options_of_threads(struct top *top)
{
    const bool are_threads = top_asks_for_threads(top);
    const char *option = are_threads ? option_of_states(top) : option_of_threads(top);

    if (option != NULL && are_threads)
        return complain(STATUS_USAGE, "--%s needs the states of threads: it goes with --tier bpf",
                        option);
    if (option != NULL)
        return complain(STATUS_USAGE, "--%s is for threads: it does not go with --from %s", option,
                        from_shown(top->from.from.text).text);
    return OPTIONS_GO_ON;
}

/* Of several database servers a row is a server, if the user does not want something else. */
static void choose_servers(struct top *top, const struct schema *schema)
{
    if (top->group_text == NULL && !top->selection.tree &&
        strcmp(top->facts.kind, "sessions") == 0 && schema_has_servers(schema))
        top->group_text = LABEL_SERVER;
}

static int resolve_label(struct top *top, const struct schema *schema)
{
    const char *none;
    int group = 0, status = OPTIONS_GO_ON;

    choose_servers(top, schema);
    if (top->group_text != NULL && schema->label_count == 0 && !top_asks_for_threads(top))
        return complain(STATUS_USAGE,
                        "--group %s: rows of %s have no labels to be grouped by; --from processes, "
                        "users, commands or cgroups are groups of threads",
                        top->group_text, top->facts.name);
    if (!top_asks_for_threads(top) || top_group_is_label(top->group))
        status = from_grouping(top->group_text, schema, &top->facts, &top->labels);
    if (top->labels.key == GROUP_LABEL)
        group = 1 + (int)(top->labels.more_count > 0 ? schema->label_count : top->labels.label);
    if (status == OPTIONS_GO_ON && group > 0 && top->selection.tree)
        return complain(STATUS_USAGE, "--tree goes without --group: it has a row for each session");
    return status == OPTIONS_GO_ON ? top_select_group(top, group, &none) : status;
}

static int resolve_other(struct top *top, const struct schema *schema)
{
    const int status = refuse_options_of_threads(top);

    if (status != OPTIONS_GO_ON)
        return status;
    if (schema->state_count == 0)
        return complain(STATUS_USAGE, "--from %s: it has no states, so its time adds up to nothing",
                        from_shown(top->from.from.text).text);
    return resolve_label(top, schema);
}

/* Finds the states whose column of a text table has this heading, such as "runq" of "runq%".
 * Returns their number, which is 0 if `heading` is the name of an order. */
static int states_of_heading(const struct schema *schema, const char *heading,
                             char (*texts)[ORDER_NAME_SIZE])
{
    int count = 0;

    for (size_t i = 0; i < schema->state_count; i++) {
        const char *title = schema->columns[i].short_title;

        if (title != NULL && strcmp(title, heading) == 0)
            column_stem(&schema->columns[i], texts[count++]);
    }
    return order_find(schema, heading) < order_count(schema) ? 0 : count;
}

static int resolve_order(struct top *top, const struct schema *schema)
{
    const size_t count = order_count(schema);
    const size_t cpu = order_find(schema, "cpu");
    const size_t usual = top->style.of_threads && cpu < count ? cpu : 0;
    char(*texts)[ORDER_NAME_SIZE] = calloc(count, sizeof *texts);
    const char **names = calloc(count, sizeof *names);
    int status = STATUS_FAILURE, order = 0, states = 0;

    if (texts == NULL || names == NULL) {
        complain(STATUS_FAILURE, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = texts[i];
    if (top->sort_text != NULL)
        states = states_of_heading(schema, top->sort_text, texts);
    if (states == 1) {
        status = OPTIONS_GO_ON;
        order = (int)order_find(schema, texts[0]);
    } else if (states > 1) {
        status = find_choice("sort", top->sort_text, names, states, (int)usual, &order);
    } else {
        for (size_t i = 0; i < count; i++)
            order_name(schema, i, texts[i]);
        status = find_choice("sort", top->sort_text, names, (int)count, (int)usual, &order);
    }
    top->selection.order = (size_t)order;
out:
    free(texts);
    free(names);
    return status;
}

/* Returns whether the rows are threads with microstates, and the source also has the CPUs of the
 * interval. */
static bool are_threads(const struct top *top)
{
    const struct frame *cpus = source_beside(top->source);

    return strcmp(top->facts.kind, "threads") == 0 && cpus != NULL &&
           threads_have_columns(top->source->describe(top->source)) &&
           cpus->schema->state_count == CPUS_STATES_ANY_WAIT;
}

int top_resolve_options(struct top *top)
{
    const struct schema *schema = top->source->describe(top->source);
    int status;

    top->has_threads = are_threads(top);
    status = top->has_threads ? resolve_threads(top) : resolve_other(top, schema);
    if (status == OPTIONS_GO_ON)
        status = resolve_order(top, schema);
    if (status == OPTIONS_GO_ON && frame_table_init(&top->table, schema) != CAMP_OK)
        status = complain(STATUS_FAILURE, "out of memory");
    return status;
}
