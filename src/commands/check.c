/*
 * camp check: how wrong sampled CPU time is here (the papers' cpuchk). Joins the sources "tasks"
 * and "cpus" to a view, interval by interval.
 */
#include "check_recorded.h"
#include "check_report.h"
#include "check_sessions.h"
#include "command.h"
#include "counters.h"
#include "counters/units.h"
#include "selection.h"
#include "views/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_ROWS 20
#define TEXT_CPUS 16
#define FEWEST_ROWS 3
#define OTHER_LINES 12 /* headline, headings, totals, notes, and the line below */

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_CLASSIC };
static const char *const formats[] = { "text", "json", "csv", "classic", NULL };
static const char *const tiers[] = { "auto", "taskstats", "schedstat", "bpf", NULL };

struct check_options {
    uint64_t interval_ns, count, top;
    int format, tier, table;
    bool kernel_threads;
    const char *filter, *columns, *report;
    struct process_selection processes;
    struct from_options from; /* its text NULL: this machine */
};

struct check {
    struct check_options options;
    struct check_context context;
    struct source *tasks, *cpus; /* of this machine */
    struct check_recorded recorded;
    struct check_record record;
    struct check_report report;
    struct view_options view_options;
    const struct view *view;
    regex_t filter;
    const char *columns[16];
    char column_text[256];
    bool lost; /* exit records were dropped: the totals are partial */
};

static int parse(struct check_options *options, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        { "from", 0, OPTION_TEXT, &options->from.from.text, "SOURCE",
          "Instead of this machine: FILE.camp, a recording of check (camp record --from check), or "
          "the folder of a rotated one; or sessions of a database, or a recording of them: how "
          "wrong the database is about them.",
          0, 0, NULL },
        FROM_DATABASE_OPTIONS(&options->from),
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
          0, 0, NULL },
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

/* Parses and checks all options; OPTIONS_GO_ON or an exit status. */
static int read_options(struct check *check, int argc, char **argv)
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
    if (options->table >= 0 && options->format != FORMAT_CSV)
        return complain(STATUS_USAGE, "--table goes with --format csv");
    if (options->columns != NULL && options->format == FORMAT_CLASSIC)
        return complain(STATUS_USAGE, "--columns: the lines of --format classic are what they are");
    if (options->top == UINT64_MAX)
        options->top = options->format == FORMAT_TEXT ? rows_that_fit() : 0;
    check->view = view_by_name(formats[options->format]);
    check->view_options = (struct view_options){
        .stream = stdout,
        .colour = options->format == FORMAT_TEXT && view_wants_colour(stdout),
        .width = options->format == FORMAT_TEXT ? view_width(stdout) : 0,
        .table = options->table >= 0 ? check_table_names[options->table] : NULL,
    };
    check->context.selection.kernel_threads = options->kernel_threads;
    check->context.selection.top = options->top;
    check->context.selection.top_cpus = options->format == FORMAT_TEXT ? TEXT_CPUS : 0;
    if (options->from.from.text != NULL && options->report != NULL)
        return complain(STATUS_USAGE, "--from goes without --report; camp report --picture "
                                      "error-by-load is of a recording");
    status = settle_tier(options);
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

/* On a kernel that measures user and system itself there is little to check: it says so. */
static void tell_accounting(struct check *check)
{
    struct camp_kernel kernel = { 0 };

    if (camp_kernel_read(NULL, &kernel, sizeof kernel, NULL) != CAMP_OK)
        return;
    if ((kernel.known & CAMP_KERNEL_ACCOUNTING) != 0)
        check->context.accounting = accounting_name(kernel.accounting);
    if (check->options.format != FORMAT_TEXT)
        return;
    if (kernel.accounting == CAMP_ACCOUNTING_NATIVE)
        printf("This kernel measures user and system time itself: both columns are measured.\n");
    if (kernel.accounting == CAMP_ACCOUNTING_GEN && kernel.measured_cpus[0] != '\0')
        printf("This kernel measures user and system time on CPUs %s, and samples on the others.\n",
               kernel.measured_cpus);
}

/* There is always a process 1: who cannot see it does not see those of other users. */
static bool is_hidden(void)
{
    struct camp_process first;

    return camp_process_identify(NULL, 1, &first, sizeof first, NULL) == CAMP_E_GONE;
}

static void tell_tier(const struct check *check)
{
    if (check->options.format == FORMAT_TEXT && check->context.hidden)
        printf("Processes of other users are hidden (/proc is mounted with hidepid): " HIDDEN_CHANGE
               ".\n");
    if (check->options.format == FORMAT_TEXT && check->context.tier == TASKS_SCHEDSTAT)
        printf("Tier schedstat lacks %s.\n%s.\n", tier_lacks(TASKS_SCHEDSTAT),
               tier_change(TASKS_SCHEDSTAT));
}

static int open_sources(struct check *check)
{
    struct camp_error error = { 0 };
    int r;

    if (check->options.from.from.text != NULL)
        return check_recorded_open(&check->recorded, &check->options.from, &check->context);
    r = tasks_source_open((enum tasks_tier)check->options.tier, &stop_requested, &check->tasks,
                          &check->context.tier, &error);

    if (r == CAMP_OK)
        tasks_source_keep(check->tasks, check->options.processes.pids,
                          check->context.selection.pid_count);
    if (r == CAMP_OK)
        r = cpus_source_open(NULL, &stop_requested, &check->cpus, &error);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

static int show(struct check *check, const struct frame *tasks, const struct frame *cpus,
                size_t number)
{
    char time[TIME_TEXT_SIZE];
    int failed;

    time_text(time, sizeof time, tasks->wall_clock_ns);
    check->lost |= tasks->losses.lost > 0;
    if ((check->options.report != NULL &&
         check_report_add(&check->report, &check->context, tasks, cpus, time) != CAMP_OK) ||
        check_record_fill(&check->record, &check->context, tasks, cpus, time) != CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    failed = check->view->record(&check->view_options, &check->record.record, number);
    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

static int next_of_machine(struct check *check, uint64_t deadline_ns,
                           const struct frame **ret_tasks, const struct frame **ret_cpus,
                           struct camp_error *error)
{
    int r = check->tasks->next(check->tasks, deadline_ns, ret_tasks, error);

    if (r == CAMP_OK)
        r = check->cpus->next(check->cpus, 0, ret_cpus, error);
    check->context.living = tasks_source_living(check->tasks);
    check->context.measured_cpus = tasks_source_cpus(check->tasks);
    return r;
}

static int next_recorded(struct check *check, const struct frame **ret_tasks,
                         const struct frame **ret_cpus, struct camp_error *error)
{
    const int r =
        check_recorded_next(&check->recorded, &check->context, ret_tasks, ret_cpus, error);

    progress_clear(&check->options.from.progress);
    for (size_t i = 0; r == CAMP_OK && i < (*ret_tasks)->entity_count; i++)
        selection_meet(&check->options.processes, (*ret_tasks)->entities[i].id);
    return r;
}

/* Once there is no more of a recording. */
static int finish_recorded(const struct check *check, uint64_t intervals)
{
    if (intervals == 0)
        return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                        check->recorded.facts.name);
    return selection_complain_of_missing(&check->options.processes, check->recorded.facts.name);
}

static int run_intervals(struct check *check)
{
    uint64_t deadline_ns = now_ns(CLOCK_MONOTONIC);
    int status = OPTIONS_GO_ON;

    for (uint64_t i = 0; status == OPTIONS_GO_ON && !stop_requested; i++) {
        struct camp_error error = { 0 };
        const struct frame *tasks;
        const struct frame *cpus;
        int r;

        if (check->options.count > 0 && i == check->options.count)
            break;
        deadline_ns += check->options.interval_ns;
        r = check->tasks != NULL ? next_of_machine(check, deadline_ns, &tasks, &cpus, &error)
                                 : next_recorded(check, &tasks, &cpus, &error);
        if (r == SOURCE_END) {
            status = finish_recorded(check, i);
            break;
        }
        status = r == CAMP_OK ? show(check, tasks, cpus, i) : complain_of(r, &error);
        /* After a suspend, or where a look takes longer than the interval: none to make up for. */
        if (r == CAMP_OK && tasks->end_ns > deadline_ns + check->options.interval_ns)
            deadline_ns = tasks->end_ns;
        if (check->tasks != NULL && selection_all_ended(&check->options.processes))
            break;
    }
    return status != OPTIONS_GO_ON ? status : check->lost ? STATUS_PARTIAL : STATUS_OK;
}

/* A failed write of the report is told after whatever else went wrong. */
static int finish_report(struct check *check, int status)
{
    int written = check->options.report != NULL ? check_report_write(&check->report) : STATUS_OK;

    return status == STATUS_OK || status == STATUS_PARTIAL
               ? (written != STATUS_OK ? written : status)
               : status;
}

/* ------------------------------------------------------------------- Database sessions -- */

static int refuse_options_of_processes(const struct check_options *options)
{
    const struct {
        const char *name;
        bool given;
    } all[] = {
        { "pid", options->processes.texts.count > 0 },
        { "filter", options->filter != NULL },
        { "columns", options->columns != NULL },
        { "table", options->table >= 0 },
        { "no-kernel-threads", !options->kernel_threads },
        { "format classic", options->format == FORMAT_CLASSIC },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].given)
            return complain(STATUS_USAGE,
                            "--%s is of processes: it does not go with database sessions",
                            all[i].name);
    }
    return OPTIONS_GO_ON;
}

static int run_sessions(struct check *check)
{
    const struct check_sessions sessions = {
        .source = check->recorded.source,
        .facts = &check->recorded.facts,
        .interval_ns = check->options.interval_ns,
        .count = check->options.count,
        .view = check->view,
        .view_options = &check->view_options,
    };
    const int status = refuse_options_of_processes(&check->options);

    return status == OPTIONS_GO_ON ? check_sessions_run(&sessions, &check->options.from) : status;
}

static int run_processes(struct check *check)
{
    if (check->tasks != NULL) {
        check->context.hidden = is_hidden();
        tell_accounting(check);
    }
    tell_tier(check);
    return finish_report(check, run_intervals(check));
}

int command_check(int argc, char **argv)
{
    struct check check = { 0 };
    int status = read_options(&check, argc, argv);

    if (status == OPTIONS_GO_ON && check.options.report != NULL)
        status = check_report_open(&check.report, check.options.report, argc, argv);
    if (status == OPTIONS_GO_ON) {
        stop_on_signals();
        status = open_sources(&check);
    }
    if (status == OPTIONS_GO_ON)
        status = check.recorded.is_sessions ? run_sessions(&check) : run_processes(&check);
    source_close(check.tasks);
    source_close(check.cpus);
    check_recorded_release(&check.recorded);
    check_record_release(&check.record);
    check_report_release(&check.report);
    selection_processes_release(&check.options.processes);
    if (check.context.selection.filter != NULL)
        regfree(&check.filter);
    return status;
}
