/*
 * camp top: where the wall time of threads and processes, or of users, commands, cgroups and
 * workloads, goes by microstate, interval by interval; or that of the entities of any other source.
 */
#include "top.h"
#include "commands/command.h"
#include "counters/units.h"
#include "sources/recordings/recording_replay.h"
#include "views/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_ROWS 20
#define FEWEST_ROWS 3
#define OTHER_LINES 5 /* headline, heading, heading of those that ended, empty line, note */

enum { FORMAT_LIVE = -1, FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV }; /* of --format, or none */
static const char *const formats[] = { "text", "json", "csv", NULL };
static const char *const column_sets[] = { "camp", "prstat", NULL };

static int parse(struct top *top, int argc, char **argv, int *ret_first)
{
    struct top_selection *selection = &top->selection;
    const struct option_spec specs[] = {
        FROM_SOURCE_OPTIONS(&top->from),
        { "interval", 'i', OPTION_DURATION, &top->interval_ns, "TIME",
          "Length of an interval (1s).", 0.01, 86400, NULL },
        { "count", 'n', OPTION_COUNT, &top->count, "N", "End after N intervals.", 1, 1e9, NULL },
        { "format", 'f', OPTION_CHOICE, &top->format, "FORMAT",
          "text, json (one object a line, camp.frame/1) or csv: one interval below the other, on a "
          "terminal too.",
          0, 0, formats },
        { "group", 'g', OPTION_TEXT, &top->group_text, "WHAT",
          "Of threads: a row is a thread, a process (the default), a user, a command, a cgroup "
          "(version 2) or a workload. Of database sessions: one of their labels.",
          0, 0, top_group_names },
        { "workload", 'w', OPTION_TEXT, &top->workload_file, "FILE",
          "A row is a workload. A line of FILE is a rule, the first that matches wins: NAME, then "
          "name=REGEX (of the process), user=REGEX, line=REGEX (the command line; to the end of "
          "the line), POSIX extended; all that are given must match. Whoever matches none is in "
          "(unmatched). # begins a comment.",
          0, 0, NULL },
        { "tree", 't', OPTION_FLAG, &selection->tree, NULL,
          "Processes under their parents, sorted among their siblings.", 0, 0, NULL },
        { "sort", 's', OPTION_TEXT, &top->sort_text, "STATE",
          "Those that were longest in this state come first (of threads, cpu: on a CPU). Not of "
          "threads: also busy (not idle, the default), unaccounted, a label, or name.",
          0, 0, NULL },
        { "top", 0, OPTION_COUNT, &top->rows, "N",
          "At most N rows; 0: all. (text: what fits, otherwise all.)", 0, 1e9, NULL },
        { "pid", 'p', OPTION_LIST, &top->processes.texts, "PID",
          "Only threads of this process; may be given again. Ends when all ended.", 0, 0, NULL },
        { "filter", 0, OPTION_TEXT, &top->filter_text, "REGEX",
          "Only rows whose name matches (POSIX extended).", 0, 0, NULL },
        { "columns", 0, OPTION_CHOICE, &top->columns, "SET",
          "Of text: camp (percent of the interval) or prstat (percent of the row's own time, the "
          "columns of prstat -mL).",
          0, 0, column_sets },
        { "no-kernel-threads", 0, OPTION_NO_FLAG, &selection->kernel_threads, NULL,
          "Leave kernel threads out.", 0, 0, NULL },
        { "no-syscalls", 0, OPTION_FLAG, &top->no_syscalls, NULL,
          "Do not tell user from system time: system calls then cost nothing more.", 0, 0, NULL },
        { "verbose", 'v', OPTION_FLAG, &top->verbose, NULL,
          "What the kernel says of the programs that are put into it.", 0, 0, NULL },
    };
    const struct option_table table = {
        .usage = "camp top [OPTIONS]",
        .about = "Where the wall time of threads goes: on a CPU, on the run queue, asleep for a\n"
                 "page, a lock, a disk or something else, measured in the kernel at each change\n"
                 "(microstates). Those that ended in the interval stand in a part of their own.\n"
                 "--from has rows of any other source, in percent of each row's own time.\n"
                 "Without --count it runs until Ctrl-C. On a terminal it is live: h shows the\n"
                 "keys. docs/top.md explains each column.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

size_t top_rows_that_fit(const struct top *top, size_t lines)
{
    const struct frame *cpus = top->threads != NULL ? source_beside(top->threads) : NULL;
    const size_t count =
        cpus != NULL && cpus->entity_count > 0 ? cpus->entity_count - 1 : TOP_CPU_LINES;
    const size_t others = top->is_any ? TOP_ANY_LINES
                                      : OTHER_LINES + (!top->selection.cpus    ? 0
                                                       : count < TOP_CPU_LINES ? 2 + count
                                                                               : 2 + TOP_CPU_LINES);

    return lines < others + FEWEST_ROWS ? FEWEST_ROWS : lines - others;
}

static size_t default_rows(const struct top *top)
{
    const size_t height = view_height(stdout);

    return height > 0 ? top_rows_that_fit(top, height - 1) : TEXT_ROWS;
}

static int settle_view(struct top *top)
{
    const bool text = top->format == FORMAT_LIVE || top->format == FORMAT_TEXT;

    if (top->columns != 0 && !text)
        return complain(STATUS_USAGE, "--columns goes with --format text");
    top->view = view_by_name(text ? "text" : formats[top->format]);
    top->view_options = (struct view_options){
        .stream = stdout,
        .colour = text && view_wants_colour(stdout),
        .width = text ? view_width(stdout) : 0,
    };
    top->selection.for_text = text;
    top->selection.cpus = true;
    top->selection.prstat = top->columns != 0;
    top->selection.width = top->view_options.width;
    top->selection.top = top->rows != UINT64_MAX ? top->rows : text ? default_rows(top) : 0;
    return OPTIONS_GO_ON;
}

/* Otherwise what the rows are is known once the source is open. */
static bool says_threads(const struct top *top)
{
    return top->from.from.text == NULL || strcmp(top->from.from.text, "threads") == 0;
}

static int read_options(struct top *top, int argc, char **argv)
{
    int first, status;

    *top = (struct top){ .rows = UINT64_MAX, .format = FORMAT_LIVE, .group = -1 };
    from_options_init(&top->from);
    top->selection.kernel_threads = true;
    top->selection.users = &top->users;
    top->selection.cgroups = &top->cgroups;
    top->selection.workloads = &top->workloads;
    top->selection.pids = top->processes.pids;
    status = parse(top, argc, argv, &first);
    from_options_interval(&top->from, &top->interval_ns);
    if (status == OPTIONS_GO_ON && first < argc)
        return complain(STATUS_USAGE, "%s: takes no operands; see --help", argv[first]);
    if (status == OPTIONS_GO_ON)
        status = settle_view(top);
    if (status == OPTIONS_GO_ON && says_threads(top))
        status = top_settle_threads(top);
    return status == OPTIONS_GO_ON
               ? selection_filter(top->filter_text, &top->filter, &top->selection.filter)
               : status;
}

/* A session says it of itself; of a recording its intervals are added up. */
void top_count_losses(struct top *top, const struct frame *threads, const struct frame *cpus)
{
    if (top->is_any) /* the frame has them */
        return;
    if (top->facts.live) {
        threads_source_losses(top->threads, &top->losses);
        return;
    }
    top->losses.unseen += threads->losses.unseen;
    top->losses.lost += threads->losses.lost;
    if (cpus->entity_count > 0) /* the total is first */
        top->losses.switches += frame_values(cpus, 0)[CPUS_STATES_SWITCHES];
}

static int fill_any(struct top *top, const struct frame *frame, const char *time)
{
    const struct top_any_selection selection = {
        .filter = top->selection.filter,
        .sort = top->sort,
        .group = top->group,
        .for_text = top->selection.for_text,
        .width = top->selection.width,
        .is_uncut = top->view_options.width == 0,
        .top = top->selection.top,
    };

    return top_any_fill(&top->any, frame, time, &selection);
}

int top_fill(struct top *top, const struct frame *threads, const struct frame *cpus)
{
    struct top_interval interval = { threads, cpus, top->losses, top->facts.tier, NULL };
    char time[TIME_TEXT_SIZE];
    int r;

    time_text(time, sizeof time, threads->wall_clock_ns);
    interval.time = time;
    r = top->is_any ? fill_any(top, threads, time)
                    : top_record_fill(&top->record, &interval, &top->selection);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain(STATUS_FAILURE, "out of memory");
}

const struct record *top_shown(const struct top *top)
{
    return top->is_any ? &top->any.record : &top->record.record;
}

static int show(struct top *top, const struct frame *threads, size_t number)
{
    int failed, status;

    for (size_t i = 0; !top->facts.live && i < threads->entity_count; i++)
        selection_meet(&top->processes, threads->entities[i].pid);
    top_count_losses(top, threads, source_beside(top->threads));
    status = top_fill(top, threads, source_beside(top->threads));
    if (status != OPTIONS_GO_ON)
        return status;
    failed = top->view->record(&top->view_options, top_shown(top), number);
    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

static int run_intervals(struct top *top)
{
    uint64_t deadline_ns = now_ns(CLOCK_MONOTONIC);
    int status = OPTIONS_GO_ON;

    for (uint64_t i = 0; status == OPTIONS_GO_ON && !stop_requested; i++) {
        struct camp_error error = { 0 };
        const struct frame *threads;
        int r;

        if (top->count > 0 && i == top->count)
            break;
        deadline_ns += top->interval_ns;
        r = top->threads->next(top->threads, deadline_ns, &threads, &error);
        progress_clear(&top->from.progress);
        if (r == SOURCE_END && i == 0)
            return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                            top->facts.name);
        if (r == SOURCE_END)
            break;
        status = r == CAMP_OK ? show(top, threads, i) : complain_of(r, &error);
        /* After a suspend, or where a look takes longer than the interval: none to make up for. */
        if (r == CAMP_OK && threads->end_ns > deadline_ns + top->interval_ns)
            deadline_ns = threads->end_ns;
        if (top->facts.live && selection_all_ended(&top->processes))
            break;
    }
    if (status == OPTIONS_GO_ON && !top->facts.live && !stop_requested)
        status = selection_complain_of_missing(&top->processes, top->facts.name);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

/* What a selection asks of the living, a recording must know itself. */
static int settle_selection(struct top *top)
{
    const int status =
        top->facts.live ? selection_processes(&top->processes) : selection_numbers(&top->processes);

    top->selection.pid_count = top->processes.count;
    if (status == OPTIONS_GO_ON && !top->facts.live && workloads_ask_lines(&top->workloads.rules))
        return complain(STATUS_USAGE,
                        "--workload %s: a recording does not know command lines (line=); it takes "
                        "rules of name= and user=",
                        top->workload_file);
    return status;
}

/* Threads by their states, and the CPUs beside them. */
static bool are_threads(const struct top *top)
{
    const struct frame *cpus = source_beside(top->threads);

    return strcmp(top->facts.kind, "threads") == 0 && cpus != NULL &&
           top->threads->describe(top->threads)->column_count == THREADS_COLUMN_COUNT &&
           cpus->schema->column_count == CPUS_STATES_COLUMN_COUNT;
}

static int settle_any(struct top *top)
{
    const int status = top_settle_any(top);

    if (status == OPTIONS_GO_ON && view_height(stdout) == 0) /* no terminal */
        top->view_options.width = 0;
    if (status == OPTIONS_GO_ON && top->selection.for_text && top->rows == UINT64_MAX)
        top->selection.top = default_rows(top);
    return status;
}

/* Of this machine, or as they were recorded; or any other source. */
static int open_source(struct top *top)
{
    int status;

    top->from.from.states_options =
        (top->no_syscalls ? CAMP_STATES_NO_SYSCALLS : 0) | (top->verbose ? CAMP_STATES_VERBOSE : 0);
    top->from.from.wants_states = true;
    if (top->format == FORMAT_LIVE && isatty(STDOUT_FILENO)) {
        top->speed = top->from.from.speed;
        top->from.from.speed = 0;
    }
    status = from_options_open(&top->from, &top->threads, &top->facts);
    if (status == OPTIONS_GO_ON && !are_threads(top))
        return settle_any(top);
    if (status == OPTIONS_GO_ON && !says_threads(top))
        status = top_settle_threads(top);
    return status == OPTIONS_GO_ON ? settle_selection(top) : status;
}

/* The screen is taken only when the session is there: what fails before is said on stderr. */
static int run(struct top *top)
{
    if (top->format != FORMAT_LIVE || !screen_open())
        return run_intervals(top);
    if (!top->facts.live && top->facts.interval_ns > 0) /* the screen keeps the pace */
        top->interval_ns =
            (uint64_t)((double)top->facts.interval_ns / (top->speed > 0 ? top->speed : 1));
    return top_live(top);
}

int command_top(int argc, char **argv)
{
    struct top top;
    int status = read_options(&top, argc, argv);

    if (status == OPTIONS_GO_ON) {
        stop_on_signals();
        status = open_source(&top);
    }
    if (status == OPTIONS_GO_ON)
        status = run(&top);
    source_close(top.threads);
    top_record_release(&top.record);
    top_any_release(&top.any);
    selection_processes_release(&top.processes);
    top_workloads_release(&top.workloads);
    cgroup_paths_release(&top.cgroups);
    user_names_release(&top.users);
    if (top.selection.filter != NULL)
        regfree(&top.filter);
    return status;
}
