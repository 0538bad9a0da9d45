#include "check_inside.h"
#include "program/command.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TEXT_ROWS 20
#define TEXT_CPUS 16
#define FEWEST_ROWS 3
#define OTHER_LINES 14 /* the headline, the sentence, headings, totals and notes */

static const char *const formats[] = { "text", "json", "csv", "classic", NULL };

static const struct option_rule option_rules[] = {
    { "columns", NULL, "format classic", NULL },
    { 0 },
};

static int parse(struct check_options *options, int argc, char **argv, int *ret_first)
{
    char about[1024];
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FROM, &options->from.texts,
                      .help = "Read another source than this machine: FILE.camp, a recording of "
                              "check (camp record --from check), or the folder of a rotated "
                              "recording; or the sessions of a database, live or recorded: camp "
                              "then shows how wrong the database's own report of them is.",
                      .choices = from_session_words()),
        FROM_RULES_OPTIONS(&options->from),
        FROM_PART_OPTIONS(&options->from, "a recording"),
        COMMON_OPTION(COMMON_INTERVAL, &options->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &options->count),
        COMMON_OPTION(COMMON_FORMAT, &options->format,
                      .help = "text, json (one object a line), csv, or classic (the lines of "
                              "cpuchk).",
                      .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_PID, &options->processes.texts,
                      .help = "Show this process only; repeat the option for more processes. The "
                              "command ends when all of them have ended."),
        COMMON_OPTION(COMMON_FILTER, &options->filter,
                      .help = "Only processes whose name matches (POSIX extended)."),
        COMMON_OPTION(COMMON_TOP, &options->top,
                      .help = "Show at most N processes, those with the largest sampling error "
                              "first; 0: all. (Default: 20 in text, all in other formats.) Totals "
                              "include all selected processes."),
        COMMON_OPTION(COMMON_NO_KERNEL_THREADS, &options->kernel_threads,
                      .help = "Leave kernel threads out of rows and totals."),
        COMMON_OPTION(COMMON_TIER, &options->from.from.tier, .help = tasks_tier_help,
                      .choices = tasks_tier_choices),
        COMMON_OPTION(COMMON_COLUMNS, &options->columns,
                      .help = "Show only these columns of the processes, by their JSON names."),
        COMMON_OPTION(COMMON_TABLE, &options->table,
                      .help = "The table that csv writes: processes, cpus, machine, total or "
                              "losses.",
                      .choices = check_table_names),
        { "report", 0, OPTION_TEXT, &options->report, "FILE.html",
          "At the end, also write all intervals to one HTML file: error over time, error by load "
          "with the inverse curve (docs/error.md), and tables.",
          0, 0, NULL },
    };
    const struct option_table table = {
        .usage = "camp check [OPTIONS] [INTERVAL [COUNT]]",
        .about = about,
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = option_rules,
    };

    snprintf(about, sizeof about,
             "How wrong sampled CPU time is on this machine: for each process the time that\n"
             "the scheduler measured beside the time that clock ticks sampled, for each CPU\n"
             "what its columns add up to. Percent of one CPU. Without --count it runs until\n"
             "Ctrl-C. Exit status 3: %s",
             tasks_status_help);
    return options_parse(&table, argc, argv, ret_first);
}

static int read_columns(struct check *check)
{
    const char *text = check->options.columns;
    char *state = NULL, names[128];
    size_t count = 0;

    if (text == NULL)
        return OPTIONS_GO_ON;
    if (strlen(text) >= sizeof check->column_text)
        return complain(STATUS_USAGE, "--columns: too long");
    strcpy(check->column_text, text);
    for (char *name = strtok_r(check->column_text, ",", &state); name != NULL;
         name = strtok_r(NULL, ",", &state)) {
        if (check_process_column(name) == SIZE_MAX) {
            check_process_columns(names, sizeof names);
            return complain(STATUS_USAGE, "there is no column '%s'; it takes %s", name, names);
        }
        if (count < sizeof check->columns / sizeof check->columns[0] - 1)
            check->columns[count++] = name;
    }
    if (count == 0)
        return complain(STATUS_USAGE, "--columns takes names, such as pid,name,error_percent");
    check->view_options.columns = check->columns;
    return OPTIONS_GO_ON;
}

/* Returns how many process rows fit on the terminal. The rows with the largest error come first and
 * would otherwise scroll away. */
static size_t rows_that_fit(void)
{
    size_t cpus = 0;
    size_t others;

    if (view_height(stdout) == 0 || camp_cpu_count(NULL, &cpus, NULL) != CAMP_OK)
        return TEXT_ROWS;
    others = OTHER_LINES + (cpus < TEXT_CPUS ? cpus : TEXT_CPUS);
    if (view_height(stdout) < others + FEWEST_ROWS)
        return FEWEST_ROWS;
    return view_height(stdout) - others < TEXT_ROWS ? view_height(stdout) - others : TEXT_ROWS;
}

/* With --from, the source checks the text of --tier. */
static int resolve_tier(struct check_options *options)
{
    const char *text = options->from.from.tier;
    char names[64] = "";

    options->tier = TASKS_AUTOMATIC;
    if (options->from.from.text != NULL || text == NULL)
        return OPTIONS_GO_ON;
    for (size_t i = 0; tasks_tier_choices[i] != NULL; i++) {
        const char *name = tasks_tier_choices[i];
        const size_t length = strlen(names);

        options->tier = (int)tasks_tier_of(name);
        if (strcmp(name, text) == 0)
            return OPTIONS_GO_ON;
        snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", name);
    }
    return complain(STATUS_USAGE, "--tier %s: takes one of %s", text, names);
}

int check_options_read(struct check *check, int argc, char **argv)
{
    struct check_options *options = &check->options;
    int first;
    int status;

    *options = (struct check_options){ .top = UINT64_MAX, .kernel_threads = true, .table = -1 };
    from_options_init(&options->from);
    status = parse(options, argc, argv, &first);
    from_options_interval(&options->from, &options->interval_ns);
    if (status != OPTIONS_GO_ON)
        return status;
    if (options->report != NULL && !output_file_is_page(options->report))
        return complain(STATUS_USAGE, "--report '%s': a page ends with .html", options->report);
    if (options->top == UINT64_MAX)
        options->top = options->format == CHECK_TEXT ? rows_that_fit() : 0;
    check->view = view_by_name(formats[options->format]);
    check->view_options = view_options_of(stdout);
    check->view_options.table = options->table >= 0 ? check_table_names[options->table] : NULL;
    check->context.selection.no_kernel_threads = !options->kernel_threads;
    check->context.top = (size_t)options->top;
    check->context.top_cpus = options->format == CHECK_TEXT ? TEXT_CPUS : 0;
    status = resolve_tier(options);
    if (status == OPTIONS_GO_ON && options->from.from.text == NULL)
        status = from_options_check(&options->from, "check");
    if (status != OPTIONS_GO_ON)
        return status;
    status = options->from.from.text != NULL ? selection_numbers(&check->options.processes)
                                             : selection_processes(&check->options.processes);
    check->context.selection.pids = check->options.processes.pids;
    check->context.selection.pid_count = check->options.processes.count;
    if (status == OPTIONS_GO_ON)
        status = pattern_compile("filter", check->options.filter, &check->filter,
                                 &check->context.selection.filter);
    return status == OPTIONS_GO_ON ? read_columns(check) : status;
}
