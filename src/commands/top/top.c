/*
 * camp top shows where the wall time of threads goes by microstate, interval by interval. Threads
 * can be added up by process, user, command, cgroup, container, pod, unit or workload. camp top
 * also shows the rows of any other source.
 */
#include "top.h"
#include "counters/units.h"
#include "program/command.h"
#include "program/intervals.h"
#include "top_prstat.h"
#include "top_sessions.h"
#include "top_why.h"
#include "views/terminal/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_ROWS 20
#define FEWEST_ROWS 3
#define AT_ONCE_NS (100 * NS_PER_MS) /* the delay after which --speed 0 shows the last interval */

/* The values of --format. FORMAT_LIVE means that the option is not given. */
enum { FORMAT_LIVE = -1, FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
static const char *const formats[] = { "text", "json", "csv", NULL };
static const char *const column_sets[] = { "camp", "prstat", "pea", NULL }; /* enum top_columns */
static const char *const percent_bases[] = { "interval", "row", "quota",
                                             NULL }; /* enum percent_of */

static int parse(struct top *top, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        FROM_SOURCE_OPTIONS(&top->from),
        COMMON_OPTION(COMMON_INTERVAL, &top->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &top->count),
        COMMON_OPTION(COMMON_FORMAT, &top->format,
                      .help = "text, json (one object a line, camp.frame/1) or csv: print one "
                              "interval below the other, also on a terminal.",
                      .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_GROUP, &top->group_text,
                      .help = "What a row is. For threads: thread, process (the default), user, "
                              "command, cgroup, container, pod, unit (of systemd) or "
                              "workload. For database sessions: one of their labels.",
                      .choices = top_thread_groups),
        COMMON_OPTION(COMMON_WORKLOAD, &top->workload_file,
                      .help = "A row is a workload. Each line of FILE is a rule, and the first "
                              "rule that matches a process wins: NAME, then name=REGEX (the "
                              "process's name), user=REGEX, line=REGEX (the command line; up to "
                              "the end of the rule), POSIX extended. All expressions of a rule "
                              "must match. Processes that match no rule are in (unmatched). # "
                              "starts a comment."),
        { "tree", 't', OPTION_FLAG, &top->selection.tree, NULL,
          "Show processes under their parents, sorted among their siblings; database sessions "
          "under "
          "those that block them.",
          0, 0, NULL },
        { "sort", 's', OPTION_TEXT, &top->sort_text, "COLUMN",
          "Show the rows with the most of this first: a state or a counter, cpu (on a CPU, the "
          "default for threads), busy (not idle, the default for other sources), unaccounted, "
          "elapsed, a label, or name.",
          0, 0, NULL },
        COMMON_OPTION(COMMON_TOP, &top->rows,
                      .help = "Show at most N rows; 0: all. (Default: as many as fit in text, all "
                              "in other formats.)"),
        COMMON_OPTION(COMMON_PID, &top->processes.texts,
                      .help = "Show only the threads of this process; repeat the option for more "
                              "processes. The command ends when all of them have ended."),
        COMMON_OPTION(COMMON_FILTER, &top->filter_text),
        { "percent-of", 0, OPTION_CHOICE, &top->percent_of, "TIME",
          "Percentages in text are of this wall time: that of the interval (the default: a process "
          "of four threads can have 400), the row's own, or with --group container, pod or unit "
          "the CPU time of the group's quota (a group without a quota: that of the interval).",
          0, 0, percent_bases },
        COMMON_OPTION(COMMON_COLUMNS, &top->columns, .type = OPTION_CHOICE, .argument = "SET",
                      .help =
                          "The columns for threads: camp, prstat (in text: those of prstat -mL, in "
                          "percent of the row's own time) or pea (those of pea.se: also sizes and "
                          "the CPU time of exited children; json and csv have these, too).",
                      .choices = column_sets),
        { "why", 0, OPTION_FLAG, &top->why, NULL,
          "The rows are names of processes (with --group process: processes), with how long their "
          "waits for a CPU lasted (p50, p99, max), or those of the state of --sort, and with the "
          "largest cause of a wait. --sort run_queue_max_ns sorts by one of them. At most 53 rows "
          "are told apart. docs/why.md has the meaning. With --from postgres: how long the waits "
          "of "
          "sessions lasted, whatever the rows are (docs/sessions.md); needs tier bpf.",
          0, 0, NULL },
        COMMON_OPTION(COMMON_NO_KERNEL_THREADS, &top->kernel_threads),
        COMMON_OPTION(COMMON_NO_SYSCALLS, &top->no_syscalls),
        COMMON_OPTION(COMMON_VERBOSE, &top->verbose),
    };
    const struct option_table table = {
        .usage = "camp top [OPTIONS] [INTERVAL [COUNT]]",
        .about = "Where the wall time of threads goes: on a CPU, on the run queue, asleep for a\n"
                 "page, a lock, a disk or something else, measured in the kernel at each change\n"
                 "(microstates). Threads that ended in the interval have a part of their own.\n"
                 "--from has rows of any other source.\n"
                 "Without --count it runs until Ctrl-C. On a terminal it is live: h shows the\n"
                 "keys. docs/top.md explains each column.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

size_t top_rows_that_fit(const struct top *top, size_t lines)
{
    const struct frame *cpus = top->source != NULL ? source_beside(top->source) : NULL;
    const size_t count = cpus != NULL && cpus->entity_count > 0 ? cpus->entity_count - 1 : 0;
    const size_t others =
        FRAME_LINES + (!top->style.cpus || cpus == NULL        ? 0
                       : count == 0 || count > FRAME_CPU_LINES ? 2 + FRAME_CPU_LINES
                                                               : 2 + count);

    return lines < others + FEWEST_ROWS ? FEWEST_ROWS : lines - others;
}

static size_t default_rows(const struct top *top)
{
    const size_t height = view_height(stdout);

    return height > 0 ? top_rows_that_fit(top, height - 1) : TEXT_ROWS;
}

static void print_line(void *context, const struct frame *rows, size_t row, const char *name,
                       char *ret, size_t capacity)
{
    struct top *top = context;

    if (top->columns == TOP_COLUMNS_PEA)
        pea_line(ret, capacity, &top->pea, rows, row, top->selection.grouping.key, &top->users,
                 name);
    else
        prstat_line(ret, capacity, rows, row, top->selection.grouping.key, &top->users, name);
}

static void fill_more(void *context, const struct frame *rows, size_t row, struct cell *ret)
{
    struct top *top = context;

    pea_fill(ret, &top->pea, rows, row, top->selection.grouping.key);
}

void top_use_columns(struct top *top)
{
    const enum group_key key = top->selection.grouping.key;
    const bool is_pea = top->columns == TOP_COLUMNS_PEA;

    top->style.line = top->columns != TOP_COLUMNS_CAMP ? print_line : NULL;
    top->style.line_heading = is_pea ? pea_heading(false) : prstat_heading(key, false);
    top->style.line_heading_of_exited = is_pea ? pea_heading(true) : prstat_heading(key, true);
    top->style.more = is_pea ? pea_fields : NULL;
    top->style.more_count = is_pea ? PEA_FIELD_COUNT : 0;
    top->style.fill_more = fill_more;
}

static int prepare_view(struct top *top)
{
    const bool text = top->format == FORMAT_LIVE || top->format == FORMAT_TEXT;

    if (top->columns == TOP_COLUMNS_PRSTAT && !text)
        return complain(STATUS_USAGE, "--columns prstat goes with --format text");
    top->view = view_by_name(text ? "text" : formats[top->format]);
    top->style = (struct frame_style){
        .for_text = text,
        .width = text ? view_width(stdout) : 0,
        .is_uncut = view_height(stdout) == 0, /* 0 if stdout is not a terminal */
        .cpus = true,
        .percent_of = (enum percent_of)top->percent_of,
        .context = top,
    };
    top->view_options = (struct view_options){
        .stream = stdout,
        .colour = text && view_wants_colour(stdout),
        .width = text && !top->style.is_uncut ? top->style.width : 0,
    };
    top->selection.exited_apart = text || top->selection.tree;
    top_use_columns(top);
    return OPTIONS_GO_ON;
}

static int read_options(struct top *top, int argc, char **argv)
{
    int first, status;

    *top = (struct top){ .rows = UINT64_MAX, .format = FORMAT_LIVE, .group = -1 };
    from_options_init(&top->from);
    top->from.from.speed = top->speed = -1; /* -1: --speed is not given */
    top->kernel_threads = true;
    top->selection.pids = top->processes.pids;
    status = parse(top, argc, argv, &first);
    from_options_interval(&top->from, &top->interval_ns);
    if (status == OPTIONS_GO_ON)
        status = prepare_view(top);
    if (status == OPTIONS_GO_ON && top->why)
        status = top_why_prepare(top);
    if (status == OPTIONS_GO_ON && top_asks_for_threads(top))
        status = top_resolve_thread_options(top);
    return status == OPTIONS_GO_ON
               ? pattern_compile("filter", top->filter_text, &top->filter, &top->selection.filter)
               : status;
}

/* The note of the source, and that a recording has no sizes for --columns pea. The record shows it
 * later, so it is a part of *top. */
static const char *note_of(struct top *top)
{
    if (top->columns != TOP_COLUMNS_PEA || top->facts.live)
        return top->facts.note;
    snprintf(top->note, sizeof top->note, "%s%s%s", top->facts.note,
             top->facts.note[0] != '\0' ? "; " : "", PEA_UNKNOWN);
    return top->note;
}

int top_fill(struct top *top, const struct frame *frame, const struct frame *cpus)
{
    const struct frame_facts facts = { top->facts.name, top->facts.tier,
                                       top->facts.kind, top_group_name(top, top->group),
                                       note_of(top),    top->facts.cpus };
    char time[TIME_TEXT_SIZE];
    int r = selection_pick(&top->table.selected, frame, &top->selection);

    if (r == CAMP_OK && top->columns == TOP_COLUMNS_PEA && top->facts.live)
        r = pea_read(&top->pea, frame->end_ns);
    time_text(time, sizeof time, frame->wall_clock_ns);
    if (r == CAMP_OK)
        r = top_number_groups(top);
    if (top->why)
        top_why_use_columns(top);
    top_sessions_use_columns(top);
    if (r == CAMP_OK)
        r = frame_table_fill(&top->table, cpus, time, &top->selection, &top->style, &facts);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain(STATUS_FAILURE, "out of memory");
}

int32_t top_see_processes(struct top *top, const struct frame *frame, bool is_first)
{
    for (size_t i = 0; i < frame->entity_count && (is_first || !top->facts.live); i++)
        selection_see(&top->processes, frame->entities[i].pid);
    return is_first && top->facts.live ? selection_unseen(&top->processes) : NO_PID;
}

static int show(struct top *top, const struct frame *frame, uint64_t number)
{
    const int32_t unseen = top_see_processes(top, frame, number == 0);
    int failed, status;

    if (unseen != NO_PID)
        return selection_complain_of_unseen(&top->processes, unseen);
    status = top_fill(top, frame, source_beside(top->source));
    if (status != OPTIONS_GO_ON)
        return status;
    failed = top->view->record(&top->view_options, &top->table.record, number);
    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

static int run_intervals(struct top *top)
{
    struct intervals intervals = { .length_ns = top->interval_ns, .count = top->count };
    int status = OPTIONS_GO_ON;

    if (top->facts.note_warns) /* from_options_open() has printed the note. */
        top->facts.note[0] = '\0';
    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct frame *frame;
        int r;

        r = top->source->next(top->source, intervals.deadline_ns, &frame, &error);
        progress_clear(&top->from.progress);
        if (r == SOURCE_END && intervals.started == 1)
            return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                            top->facts.name);
        if (r == SOURCE_END)
            break;
        status = r == CAMP_OK ? show(top, frame, intervals.started - 1) : complain_of(r, &error);
        if (top->facts.live && selection_all_ended(&top->processes)) {
            if (status == OPTIONS_GO_ON && intervals.started != top->count)
                complain(STATUS_OK, "all processes of --pid have ended");
            break;
        }
    }
    if (status == OPTIONS_GO_ON && !top->facts.live && !stop_requested)
        status = selection_complain_of_missing(&top->processes, top->facts.name);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

/* Finds the processes of --pid first, because that needs no capability. */
static int prepare_threads(struct top *top)
{
    const int status = selection_processes(&top->processes);

    top_prepare_from(top);
    return status;
}

static int open_source(struct top *top)
{
    int status = top_asks_for_threads(top) ? prepare_threads(top) : OPTIONS_GO_ON;

    top->from.from.states_options |=
        (top->no_syscalls ? CAMP_STATES_NO_SYSCALLS : 0) | (top->verbose ? CAMP_STATES_VERBOSE : 0);
    top->from.from.wants_states = true;
    top->from.from.by_statement = from_group_has(top->group_text, SOURCE_LABEL_STATEMENT);
    top->from.sandbox.workload_file = top->workload_file;
    if (top->format == FORMAT_LIVE && isatty(STDOUT_FILENO)) {
        top->speed = top->from.from.speed;
        top->from.from.speed = 0;
    }
    if (status == OPTIONS_GO_ON)
        status = from_options_open(&top->from, &top->source, &top->facts);
    if (status == OPTIONS_GO_ON)
        status = top_resolve_options(top);
    if (status == OPTIONS_GO_ON && top->columns == TOP_COLUMNS_PEA && top->facts.live &&
        pea_read(&top->pea, 0) != CAMP_OK)
        status = complain(STATUS_FAILURE, "out of memory");
    top->selection.most = top->rows != UINT64_MAX ? (size_t)top->rows
                          : top->style.for_text   ? default_rows(top)
                                                  : 0;
    return status;
}

/* Opens the screen after the source, so that earlier errors are printed on stderr without the
 * screen. */
static int run(struct top *top)
{
    struct camp_error error = { 0 };

    if (top->format != FORMAT_LIVE || !screen_open(&error)) {
        if (error.code != CAMP_OK)
            complain_of(error.code, &error);
        return run_intervals(top);
    }
    top->from.progress.is_off = true;
    /* top_live() itself waits for each interval of a recording. */
    if (top->facts.live)
        top->speed = -1;
    else if (top->speed == 0)
        top->interval_ns = AT_ONCE_NS;
    else if (top->facts.interval_ns > 0)
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
    source_close(top.source);
    frame_table_release(&top.table);
    selection_processes_release(&top.processes);
    top_workloads_release(&top.workloads);
    free(top.label_numbers);
    cgroup_paths_release(&top.cgroups);
    user_names_release(&top.users);
    pea_release(&top.pea);
    if (top.selection.filter != NULL)
        regfree(&top.filter);
    return status;
}
