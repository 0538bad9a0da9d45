/*
 * camp top: where the wall time of threads and processes, or of users, commands, cgroups and
 * workloads, goes by microstate, interval by interval; or that of the entities of any other source.
 */
#include "top.h"
#include "counters/units.h"
#include "program/command.h"
#include "program/intervals.h"
#include "recording/recording.h"
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
        COMMON_OPTION(COMMON_INTERVAL, &top->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &top->count),
        COMMON_OPTION(COMMON_FORMAT, &top->format,
                      .help = "text, json (one object a line, camp.frame/1) or csv: print one "
                              "interval below the other, also on a terminal.",
                      .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_GROUP, &top->group_text,
                      .help = "What a row is. For threads: thread, process (the default), user, "
                              "command, cgroup (version 2) or workload. For database sessions: "
                              "one of their labels.",
                      .choices = top_group_names),
        COMMON_OPTION(COMMON_WORKLOAD, &top->workload_file,
                      .help = "A row is a workload. Each line of FILE is a rule, and the first "
                              "rule that matches a process wins: NAME, then name=REGEX (the "
                              "process's name), user=REGEX, line=REGEX (the command line; up to "
                              "the end of the rule), POSIX extended. All expressions of a rule "
                              "must match. Processes that match no rule are in (unmatched). # "
                              "starts a comment."),
        { "tree", 't', OPTION_FLAG, &selection->tree, NULL,
          "Show processes under their parents, sorted among their siblings.", 0, 0, NULL },
        { "sort", 's', OPTION_TEXT, &top->sort_text, "STATE",
          "Show the rows with the longest time in this state first (for threads, cpu: on a CPU). "
          "For other sources also busy (not idle, the default), unaccounted, a label, or name.",
          0, 0, NULL },
        COMMON_OPTION(COMMON_TOP, &top->rows,
                      .help = "Show at most N rows; 0: all. (Default: as many as fit in text, all "
                              "in other formats.)"),
        COMMON_OPTION(COMMON_PID, &top->processes.texts,
                      .help = "Show only the threads of this process; repeat the option for more "
                              "processes. The command ends when all of them have ended."),
        COMMON_OPTION(COMMON_FILTER, &top->filter_text),
        COMMON_OPTION(COMMON_COLUMNS, &top->columns, .type = OPTION_CHOICE, .argument = "SET",
                      .help = "The columns of text: camp (percent of the interval) or prstat "
                              "(percent of the row's own time, the columns of prstat -mL).",
                      .choices = column_sets),
        COMMON_OPTION(COMMON_NO_KERNEL_THREADS, &selection->kernel_threads),
        COMMON_OPTION(COMMON_NO_SYSCALLS, &top->no_syscalls),
        COMMON_OPTION(COMMON_VERBOSE, &top->verbose),
    };
    const struct option_table table = {
        .usage = "camp top [OPTIONS] [INTERVAL [COUNT]]",
        .about = "Where the wall time of threads goes: on a CPU, on the run queue, asleep for a\n"
                 "page, a lock, a disk or something else, measured in the kernel at each change\n"
                 "(microstates). Threads that ended in the interval have a part of their own.\n"
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
    top->selection.top = top->rows != UINT64_MAX ? (size_t)top->rows : text ? default_rows(top) : 0;
    return OPTIONS_GO_ON;
}

bool top_says_threads(const struct top *top)
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
    if (status == OPTIONS_GO_ON)
        status = settle_view(top);
    if (status == OPTIONS_GO_ON && top_says_threads(top))
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

int32_t top_meet_processes(struct top *top, const struct frame *threads, bool is_first)
{
    for (size_t i = 0; i < threads->entity_count && (is_first || !top->facts.live); i++)
        selection_see(&top->processes, threads->entities[i].pid);
    return is_first && top->facts.live ? selection_unseen(&top->processes) : NO_PID;
}

static int show(struct top *top, const struct frame *threads, uint64_t number)
{
    const int32_t unseen = top_meet_processes(top, threads, number == 0);
    int failed, status;

    if (unseen != NO_PID)
        return complain_of_unseen_process(unseen);
    top_count_losses(top, threads, source_beside(top->threads));
    status = top_fill(top, threads, source_beside(top->threads));
    if (status != OPTIONS_GO_ON)
        return status;
    failed = top->view->record(&top->view_options, top_shown(top), number);
    return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
}

static int run_intervals(struct top *top)
{
    struct intervals intervals = { .length_ns = top->interval_ns, .count = top->count };
    int status = OPTIONS_GO_ON;

    if (top->facts.note_warns) /* the note is on stderr already */
        top->facts.note[0] = '\0';
    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct frame *threads;
        int r;

        r = top->threads->next(top->threads, intervals.deadline_ns, &threads, &error);
        progress_clear(&top->from.progress);
        if (r == SOURCE_END && intervals.started == 1)
            return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                            top->facts.name);
        if (r == SOURCE_END)
            break;
        status = r == CAMP_OK ? show(top, threads, intervals.started - 1) : complain_of(r, &error);
        if (top->facts.live && selection_all_ended(&top->processes))
            break;
    }
    if (status == OPTIONS_GO_ON && !top->facts.live && !stop_requested)
        status = selection_complain_of_missing(&top->processes, top->facts.name);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

/* A recording holds the numbers of processes, but no command lines. */
static int settle_recorded(struct top *top)
{
    const int status = selection_numbers(&top->processes);

    top->selection.pid_count = top->processes.count;
    if (status == OPTIONS_GO_ON && workloads_need_lines(&top->workloads.rules))
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

/* Of threads of this machine: that there are such processes is known without any capability. */
static int settle_live(struct top *top)
{
    const int status = selection_processes(&top->processes);

    top->selection.pid_count = top->processes.count;
    top_settle_from(top);
    return status;
}

/* Once the source is open. */
static int settle_opened(struct top *top)
{
    int status = OPTIONS_GO_ON;

    if (!are_threads(top))
        return settle_any(top);
    if (!top_says_threads(top))
        status = top_settle_threads(top);
    if (status == OPTIONS_GO_ON)
        status = top_settle_sort(top);
    return status == OPTIONS_GO_ON && !top->facts.live ? settle_recorded(top) : status;
}

/* Of this machine, or as they were recorded; or any other source. */
static int open_source(struct top *top)
{
    int status = top_says_threads(top) ? settle_live(top) : OPTIONS_GO_ON;

    top->from.from.states_options =
        (top->no_syscalls ? CAMP_STATES_NO_SYSCALLS : 0) | (top->verbose ? CAMP_STATES_VERBOSE : 0);
    top->from.from.wants_states = true;
    if (top->format == FORMAT_LIVE && isatty(STDOUT_FILENO)) {
        top->speed = top->from.from.speed;
        top->from.from.speed = 0;
    }
    if (status == OPTIONS_GO_ON)
        status = from_options_open(&top->from, &top->threads, &top->facts);
    return status == OPTIONS_GO_ON ? settle_opened(top) : status;
}

/* The screen is taken only when the session is there: what fails before is said on stderr. */
static int run(struct top *top)
{
    struct camp_error error = { 0 };

    if (top->format != FORMAT_LIVE || !screen_open(&error)) {
        if (error.code != CAMP_OK)
            complain_of(error.code, &error);
        return run_intervals(top);
    }
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
