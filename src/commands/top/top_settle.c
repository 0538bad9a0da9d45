/* What the options of camp top mean, of threads and of any other source: which rows there are, in
 * which order, and what does not go together. */
#include "program/command.h"
#include "top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CPU time first, then the states by their names. */
const char *top_sort_names[CAMP_STATE_COUNT + 2] = { "cpu" };

/* -------------------------------------------------------------------------------- Threads -- */

int top_select_group(struct top *top, int group, const char **ret_problem)
{
    *ret_problem = NULL;
    if (group == TOP_WORKLOAD && top->workloads.rules.count == 0)
        *ret_problem = "--group workload takes --workload FILE; --help shows what is in it";
    else if (group == TOP_CGROUP && top->cgroups.mount == NULL && !cgroup_paths_open(&top->cgroups))
        *ret_problem = "no cgroups of version 2 here: no cgroup2 file system is mounted";
    if (*ret_problem != NULL)
        return group == TOP_WORKLOAD ? STATUS_USAGE : STATUS_FAILURE;
    top->group = group;
    top->selection.group = (enum top_group)group;
    return OPTIONS_GO_ON;
}

/* A word of `names`, as OPTION_CHOICE takes it; NULL is `usual`. OPTIONS_GO_ON or STATUS_USAGE. */
static int settle_choice(const char *option, const char *text, const char *const *names, int usual,
                         int *ret)
{
    char all[400] = "";

    *ret = usual;
    for (int i = 0; text != NULL && names[i] != NULL; i++) {
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

/* What does not go together, and files. */
int top_settle_threads(struct top *top)
{
    const char *problem;
    int status = settle_choice("group", top->group_text, top_group_names, -1, &top->group);

    if (status != OPTIONS_GO_ON)
        return status;
    if (top->workload_file != NULL) {
        if (top->group >= 0 && top->group != TOP_WORKLOAD)
            return complain(STATUS_USAGE, "--workload goes with --group workload");
        top->group = TOP_WORKLOAD;
        status = top_workloads_read(&top->workloads, top->workload_file);
        if (status != OPTIONS_GO_ON)
            return status;
    }
    if (top->selection.tree && top->group >= 0 && top->group != TOP_PROCESS)
        return complain(STATUS_USAGE, "--tree goes with --group process");
    status = top_select_group(top, top->group >= 0 ? top->group : TOP_PROCESS, &problem);
    return status == OPTIONS_GO_ON ? status : complain(status, "%s", problem);
}

int top_settle_sort(struct top *top)
{
    int status;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        top_sort_names[i + 1] = camp_state_name(i);
    status = settle_choice("sort", top->sort_text, top_sort_names, 0, &top->sort);
    top->selection.sort = top->sort - 1;
    return status;
}

/* ------------------------------------------------------------- Threads without microstates -- */

/* The rows of the scheduler's counts by enum top_group, as --from names them. NULL: there are no
 * such rows. */
static const char *const rows_without_states[] = {
    [TOP_THREAD] = "threads",   [TOP_PROCESS] = "processes", [TOP_USER] = "users",
    [TOP_COMMAND] = "commands", [TOP_CGROUP] = NULL,         [TOP_WORKLOAD] = NULL,
};

/* The first option on the command line that only microstates have; NULL: there is none. */
static const char *option_of_states(const struct top *top)
{
    if (top->selection.tree)
        return "tree";
    if (top->workload_file != NULL)
        return "workload";
    if (top->columns != 0)
        return "columns prstat";
    if (top->group_text != NULL && rows_without_states[top->group] == NULL)
        return "group cgroup";
    return NULL;
}

/* Is --sort a state that the scheduler's counts do not have? A name that nothing has is refused by
 * the source that is opened, with the names that it has. */
static bool sorts_by_state(const struct top *top)
{
    for (int i = 0; top->sort_text != NULL && i < CAMP_STATE_COUNT; i++) {
        if (i != CAMP_STATE_RUN_QUEUE && strcmp(top->sort_text, camp_state_name(i)) == 0)
            return true;
    }
    return false;
}

void top_settle_from(struct top *top)
{
    struct from *from = &top->from.from;

    from->microstates_alone = option_of_states(top) != NULL || sorts_by_state(top);
    if (top->group_text != NULL && top->group != TOP_THREAD)
        from->rows_without_states = rows_without_states[top->group];
    from->pids = top->processes.pids;
    from->pid_count = top->processes.count;
    from->no_kernel_threads = !top->selection.kernel_threads;
}

/* ---------------------------------------------------------------------- Any other source -- */

/* The first option on the command line that is for threads only; NULL: there is none. */
static const char *option_of_threads(const struct top *top)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "pid", top->processes.texts.count > 0 },
        { "tree", top->selection.tree },
        { "workload", top->workload_file != NULL },
        { "columns prstat", top->columns != 0 },
        { "no-kernel-threads", !top->selection.kernel_threads },
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].given)
            return options[i].name;
    }
    return NULL;
}

static int refuse_options_of_threads(const struct top *top)
{
    const bool are_threads = top_says_threads(top);
    const char *option = are_threads ? option_of_states(top) : option_of_threads(top);

    if (option != NULL && are_threads)
        return complain(STATUS_USAGE, "--%s needs the states of threads: it goes with --tier bpf",
                        option);
    if (option != NULL)
        return complain(STATUS_USAGE, "--%s is for threads: it does not go with --from %s", option,
                        from_shown(top->from.from.text).text);
    return OPTIONS_GO_ON;
}

static int settle_label(struct top *top, const struct schema *schema)
{
    const char *names[LABELS_MOST + 1] = { NULL };

    if (top_says_threads(top)) { /* the rows of the source are the groups */
        top->group = -1;
        return OPTIONS_GO_ON;
    }
    if (top->group_text != NULL && schema->label_count == 0)
        return complain(STATUS_USAGE,
                        "--group %s: rows of %s have no labels to be grouped by; --from processes, "
                        "users, commands or cgroups are groups of threads",
                        top->group_text, top->facts.name);
    for (size_t i = 0; i < schema->label_count && i < LABELS_MOST; i++)
        names[i] = schema->label_names[i];
    return settle_choice("group", top->group_text, names, -1, &top->group);
}

static int settle_order(struct top *top, const struct schema *schema)
{
    const int count = top_any_sort_count(schema);
    char(*texts)[TOP_ANY_WORD_SIZE] = calloc((size_t)count, sizeof *texts);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    int status;

    for (int i = 0; texts != NULL && names != NULL && i < count; i++) {
        top_any_sort_name(schema, i, texts[i]);
        names[i] = texts[i];
    }
    status = texts != NULL && names != NULL
                 ? settle_choice("sort", top->sort_text, names, 0, &top->sort)
                 : complain(STATUS_FAILURE, "out of memory");
    free(texts);
    free(names);
    return status;
}

int top_settle_any(struct top *top)
{
    const struct schema *schema = top->threads->describe(top->threads);
    int status = refuse_options_of_threads(top);

    if (status != OPTIONS_GO_ON)
        return status;
    if (schema->state_count == 0)
        return complain(STATUS_USAGE, "--from %s: it has no states, so its time adds up to nothing",
                        from_shown(top->from.from.text).text);
    top->is_any = true;
    status = settle_label(top, schema);
    if (status == OPTIONS_GO_ON)
        status = settle_order(top, schema);
    if (status == OPTIONS_GO_ON && top_any_init(&top->any, schema, &top->facts) != CAMP_OK)
        status = complain(STATUS_FAILURE, "out of memory");
    return status;
}
