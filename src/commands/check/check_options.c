/* What camp check was asked for. */
#include "check_inside.h"
#include "commands/command.h"
#include "counters/units.h"

#include <stdint.h>
#include <string.h>

#define TEXT_ROWS 20
#define TEXT_CPUS 16
#define FEWEST_ROWS 3
#define OTHER_LINES 12 /* headline, headings, totals, notes, and the line below */

static const char *const formats[] = { "text", "json", "csv", "classic", NULL };
static const char *const tiers[] = { "auto", "taskstats", "schedstat", "bpf", NULL };

static int parse(struct check_options *options, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        { "from", 0, OPTION_TEXT, &options->from.from.text, "SOURCE",
          "Instead of this machine: FILE.camp, a recording of check (camp record --from check), or "
          "the folder of a rotated one; or sessions of a database, or a recording of them: how "
          "wrong the database is about them.",
          0, 0, from_session_words },
        FROM_RULES_OPTIONS(&options->from),
        FROM_PART_OPTIONS(&options->from, "a recording"),
        { "interval", 'i', OPTION_DURATION, &options->interval_ns, "TIME",
          "Length of an interval (1s).", 0.01, 86400, NULL },
        { "count", 'n', OPTION_COUNT, &options->count, "N", "End after N intervals.", 1, 1e9,
          NULL },
        { "format", 'f', OPTION_CHOICE, &options->format, "FORMAT",
          "text, json (one object a line), csv, or classic (the lines of cpuchk).", 0, 0, formats },
        { "pid", 'p', OPTION_LIST, &options->processes.texts, "PID",
          "Only this process; may be given again. Ends when all ended.", 0, 0, NULL },
        { "filter", 0, OPTION_TEXT, &options->filter, "REGEX",
          "Only processes whose name matches (POSIX extended).", 0, 0, NULL },
        { "top", 0, OPTION_COUNT, &options->top, "N",
          "At most N processes, those that sampling is most wrong about first; 0: all. (text: 20, "
          "otherwise all.) Totals are of all that are selected.",
          0, 1e9, NULL },
        { "no-kernel-threads", 0, OPTION_NO_FLAG, &options->kernel_threads, NULL,
          "Leave kernel threads out of rows and totals.", 0, 0, NULL },
        { "tier", 0, OPTION_TEXT, &options->from.from.tier, "TIER",
          "How processes are read: auto (taskstats where it is permitted, or schedstat), "
          "taskstats, "
          "schedstat, or bpf (CAP_BPF and CAP_PERFMON: exact also of who ended, and of CPUs). Of "
          "database sessions: as docs/sessions.md names them.",
          0, 0, tiers },
        { "columns", 0, OPTION_TEXT, &options->columns, "NAME,...",
          "Only these columns of the processes, by their JSON names.", 0, 0, NULL },
        { "table", 0, OPTION_CHOICE, &options->table, "TABLE",
          "The table that csv writes: processes, cpus, machine, total or losses.", 0, 0,
          check_table_names },
        { "report", 0, OPTION_TEXT, &options->report, "FILE.html",
          "At the end also write all intervals as one HTML file: error over time, error by load "
          "with the inverse curve (docs/error.md), tables.",
          0, 0, NULL },
    };
    const struct option_table table = {
        .usage = "camp check [OPTIONS]",
        .about = "How wrong sampled CPU time is on this machine: for each process the time that\n"
                 "the scheduler measured beside the time that clock ticks sampled, for each CPU\n"
                 "what its columns add up to. Percent of one CPU. Without --count it runs until\n"
                 "Ctrl-C. Exit status 3: the kernel dropped exit records, the totals are partial.\n"
                 "What tier schedstat cannot see, tasks that came and went, is counted, status 0.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

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

/* A whole interval fits a terminal, so that the worst rows do not scroll away. */
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

/* Of processes of this machine; what other sources have is their business. */
static int settle_tier(struct check_options *options)
{
    const char *text = options->from.from.tier;

    options->tier = 0;
    if (options->from.from.text != NULL || text == NULL)
        return OPTIONS_GO_ON;
    for (int i = 0; tiers[i] != NULL; i++) {
        options->tier = i;
        if (strcmp(tiers[i], text) == 0)
            return OPTIONS_GO_ON;
    }
    return complain(STATUS_USAGE, "--tier %s: takes one of auto, taskstats, schedstat, bpf", text);
}

/* Of this machine's processes they would do nothing, and nobody would know. */
static int refuse_without_from(const struct from_options *from)
{
    const struct {
        const char *name, *goes_with;
        bool given;
    } all[] = { { "rules", "sessions of a database", from->from.rules != NULL },
                { "background", "sessions of a database", from->from.background },
                { "begin", "a recording", from->begin != NULL },
                { "end", "a recording", from->end != NULL },
                { "speed", "a recording", from->from.speed > 0 } };

    for (size_t i = 0; from->from.text == NULL && i < sizeof all / sizeof all[0]; i++) {
        if (all[i].given)
            return complain(STATUS_USAGE, "--%s goes with --from and %s", all[i].name,
                            all[i].goes_with);
    }
    return OPTIONS_GO_ON;
}

int check_options_read(struct check *check, int argc, char **argv)
{
    struct check_options *options = &check->options;
    int first;
    int status;

    *options = (struct check_options){
        .interval_ns = NS_PER_S, .top = UINT64_MAX, .kernel_threads = true, .table = -1
    };
    from_options_init(&options->from);
    status = parse(options, argc, argv, &first);
    if (status != OPTIONS_GO_ON)
        return status;
    if (first < argc)
        return complain(STATUS_USAGE, "%s: takes no operands; see --help", argv[first]);
    if (options->report != NULL && !output_file_is_page(options->report))
        return complain(STATUS_USAGE, "--report '%s': a page ends with .html", options->report);
    if (options->table >= 0 && options->format != CHECK_CSV)
        return complain(STATUS_USAGE, "--table goes with --format csv");
    if (options->columns != NULL && options->format == CHECK_CLASSIC)
        return complain(STATUS_USAGE, "--columns: the lines of --format classic are what they are");
    if (options->top == UINT64_MAX)
        options->top = options->format == CHECK_TEXT ? rows_that_fit() : 0;
    check->view = view_by_name(formats[options->format]);
    check->view_options = (struct view_options){
        .stream = stdout,
        .colour = options->format == CHECK_TEXT && view_wants_colour(stdout),
        .width = options->format == CHECK_TEXT ? view_width(stdout) : 0,
        .table = options->table >= 0 ? check_table_names[options->table] : NULL,
    };
    check->context.selection.kernel_threads = options->kernel_threads;
    check->context.selection.top = options->top;
    check->context.selection.top_cpus = options->format == CHECK_TEXT ? TEXT_CPUS : 0;
    if (options->from.from.text != NULL && options->report != NULL)
        return complain(STATUS_USAGE, "--from goes without --report; camp report --picture "
                                      "error-by-load is of a recording");
    status = settle_tier(options);
    if (status == OPTIONS_GO_ON)
        status = refuse_without_from(&options->from);
    if (status != OPTIONS_GO_ON)
        return status;
    status = options->from.from.text != NULL ? selection_numbers(&check->options.processes)
                                             : selection_processes(&check->options.processes);
    check->context.selection.pids = check->options.processes.pids;
    check->context.selection.pid_count = check->options.processes.count;
    if (status == OPTIONS_GO_ON)
        status = selection_filter(check->options.filter, &check->filter,
                                  &check->context.selection.filter);
    return status == OPTIONS_GO_ON ? read_columns(check) : status;
}
