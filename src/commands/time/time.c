/*
 * camp time shows where the wall time of a command and all its descendants went, by state.
 *
 * Descendants are found by their parents. camp is the subreaper of the command (prctl(2)), so
 * orphans become children of camp. The chain of parents of each descendant therefore leads to camp.
 */
#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"
#include "program/output_file.h"
#include "program/privilege.h"
#include "program/process_selection.h"
#include "time_child.h"
#include "time_family.h"
#include "time_record.h"
#include "time_usage.h"
#include "views/view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_INTERVAL_NS (50 * NS_PER_MS)
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
static const char *const formats[] = { "text", "json", "csv", NULL };

struct time_options {
    uint64_t pid, duration_ns;
    int format, table;
    bool no_syscalls, verbose;
    const char *output;
};

struct timing {
    struct time_options options;
    struct camp_states *session; /* NULL if microstates are not permitted; `usage` is then shown */
    struct camp_error refusal;
    struct family family;
    struct time_usage usage;
    struct time_facts facts;
    char command[128], time[TIME_TEXT_SIZE];
    struct output_file file;      /* --output, or only a standard stream */
    uint64_t start_ns, stolen_ns; /* at the start of the command */
    bool has_not_run;
};

static int parse(struct time_options *options, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_PID, &options->pid, .type = OPTION_COUNT,
                      .help = "Measure this running process instead of a command, until it ends, "
                              "for --duration, or until Ctrl-C.",
                      .minimum = 1, .maximum = INT32_MAX),
        COMMON_OPTION(COMMON_DURATION, &options->duration_ns,
                      .help = "With --pid: measure for this time.", .minimum = 0.01,
                      .maximum = 86400),
        COMMON_OPTION(COMMON_FORMAT, &options->format, .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_TABLE, &options->table,
                      .help = "The table that csv writes: executables, states or total.",
                      .choices = time_table_names),
        COMMON_OPTION(COMMON_OUTPUT, &options->output,
                      .help =
                          "The file to write (default: stderr, as the command itself may write to "
                          "stdout; with --pid stdout)."),
        COMMON_OPTION(COMMON_NO_SYSCALLS, &options->no_syscalls),
        COMMON_OPTION(COMMON_VERBOSE, &options->verbose),
    };
    const struct option_table table = {
        .usage = "camp time [OPTIONS] -- COMMAND [ARGUMENTS], camp time [OPTIONS] --pid PID",
        .about = "Where the wall time of a command and of all its descendants went: by state and\n"
                 "by executable, each nanosecond once, with what does not add up. Ends with the\n"
                 "command's exit status. With --pid: the microstates of a running process.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

static void forward_stop(pid_t command, bool *forwarded)
{
    if (stop_requested && !*forwarded) {
        kill(command, SIGTERM);
        *forwarded = true;
    }
}

/* Returns the time that a hypervisor took from all CPUs since boot. 0 if it is not reported. */
static uint64_t stolen_ns(void)
{
    struct camp_cpu total;

    return camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL) == CAMP_OK
               ? total.steal_ns
               : 0;
}

static int collect_exited(struct timing *timing, struct camp_error *error)
{
    return timing->session != NULL ? family_collect_exited(&timing->family, timing->session, error)
                                   : CAMP_OK;
}

static int collect_rest(struct timing *timing, struct camp_error *error)
{
    int r;

    if (timing->session == NULL) {
        time_usage_read(&timing->usage);
        return CAMP_OK;
    }
    r = family_collect_rest(&timing->family, timing->session, error);
    return r == CAMP_OK ? family_add_up_descendants(&timing->family, getpid()) : r;
}

static int run_command(struct timing *timing, char **argv)
{
    struct camp_error error = { 0 };
    bool forwarded = false;
    int status = 0, r = CAMP_OK;
    sigset_t child, before;
    int failure[2];
    pid_t pid;

    if (pipe2(failure, O_CLOEXEC | O_NONBLOCK) != 0)
        return complain_of(camp_fail_errno(&error, errno, "a pipe"), &error);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* SIGINT and SIGQUIT from the terminal are for the command. camp ignores them, so that it
     * can report at the end. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    sigprocmask(SIG_BLOCK, &child, &before);
    time_usage_start(&timing->usage);
    timing->stolen_ns = stolen_ns();
    timing->start_ns = now_ns(CLOCK_MONOTONIC);
    pid = child_start(argv, &before, failure[1]);
    if (pid < 0)
        return complain(STATUS_FAILURE, "no further process can be made: %s", strerror(errno));
    privilege_give_up(PRIVILEGE_MAPS); /* the command keeps what camp was given */
    while (r == CAMP_OK && !child_reap(pid, &status)) {
        child_wait(DRAIN_INTERVAL_NS);
        forward_stop(pid, &forwarded);
        r = collect_exited(timing, &error);
    }
    timing->facts.real_ns = now_ns(CLOCK_MONOTONIC) - timing->start_ns;
    timing->facts.stolen_ns = counted_since(timing->stolen_ns, stolen_ns());
    timing->facts.status = child_exit_status(status);
    timing->has_not_run = child_has_not_run(failure[0]);
    close(failure[0]);
    close(failure[1]);
    if (r == CAMP_OK)
        r = collect_rest(timing, &error);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

static void name_command(struct timing *timing, char **argv)
{
    size_t length = 0;

    for (; *argv != NULL && length + 2 < sizeof timing->command; argv++)
        length += (size_t)snprintf(timing->command + length, sizeof timing->command - length,
                                   "%s%s", length > 0 ? " " : "", *argv);
    timing->facts.command = timing->command;
}

static int open_output(struct timing *timing)
{
    const struct time_options *options = &timing->options;

    if (options->output != NULL) {
        const int status = output_file_open(&timing->file, options->output);

        return status == STATUS_OK ? (int)OPTIONS_GO_ON : status;
    }
    timing->file.stream = options->pid != 0 ? stdout : stderr;
    return OPTIONS_GO_ON;
}

static int close_output(struct timing *timing, int failed)
{
    int status;

    if (timing->options.output == NULL)
        return failed != 0 ? output_failed(failed) : OPTIONS_GO_ON;
    status =
        failed != 0 ? output_file_fail(&timing->file, failed) : output_file_finish(&timing->file);
    return status == STATUS_OK ? OPTIONS_GO_ON : status;
}

/* Returns 0, or an errno if the record could not be made or written. */
static int show_states(struct timing *timing, const struct view *view,
                       const struct view_options *options)
{
    struct time_record record;
    int failed;

    if (camp_states_losses(timing->session, &timing->facts.losses, sizeof timing->facts.losses,
                           NULL) != CAMP_OK ||
        time_record_fill(&record, &timing->family, &timing->facts, options->width) != CAMP_OK)
        return ENOMEM;
    failed = view->record(options, &record.record, 0);
    time_record_release(&record);
    return failed;
}

static int show_usage(const struct timing *timing, const struct view *view,
                      const struct view_options *options)
{
    struct time_usage_record record;

    complain(STATUS_OK, "Only wall time and CPU time are shown, no states: %s",
             timing->refusal.message);
    time_usage_fill(&record, &timing->usage, &timing->facts);
    return view->record(options, &record.record, 0);
}

static int show(struct timing *timing)
{
    FILE *stream = timing->file.stream;
    const int format = timing->options.format;
    const struct view *view = view_by_name(formats[format]);
    const struct view_options options = {
        .stream = stream,
        .colour = format == FORMAT_TEXT && view_wants_colour(stream),
        .width = view_height(stream) > 0 ? view_width(stream) : 0,
        .table = timing->options.table >= 0 ? time_table_names[timing->options.table] : NULL,
    };
    int failed;

    time_text(timing->time, sizeof timing->time, (int64_t)now_ns(CLOCK_REALTIME));
    timing->facts.time = timing->time;
    failed = timing->session != NULL ? show_states(timing, view, &options)
                                     : show_usage(timing, view, &options);
    return close_output(timing, failed);
}

static int time_command(struct timing *timing, char **argv)
{
    int status = open_output(timing);

    if (status != OPTIONS_GO_ON)
        return status;
    name_command(timing, argv);
    status = run_command(timing, argv);
    if (status == OPTIONS_GO_ON && !timing->has_not_run)
        status = show(timing);
    if (status != OPTIONS_GO_ON)
        return status;
    return timing->facts.status;
}

/* family_has_exit() misses a process that exited before the session started. */
static bool is_gone(int32_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static int watch(struct timing *timing, int32_t pid, struct camp_error *error)
{
    const uint64_t duration_ns = timing->options.duration_ns;
    int r = family_start(&timing->family, timing->session, pid, error);

    timing->stolen_ns = stolen_ns();
    timing->start_ns = now_ns(CLOCK_MONOTONIC);
    while (r == CAMP_OK && !stop_requested && !family_has_exit(&timing->family, pid) &&
           !is_gone(pid)) {
        uint64_t end_ns = timing->start_ns + duration_ns, now = now_ns(CLOCK_MONOTONIC);

        if (duration_ns > 0 && now >= end_ns)
            break;
        sleep_until(duration_ns > 0 && now + DRAIN_INTERVAL_NS > end_ns ? end_ns
                                                                        : now + DRAIN_INTERVAL_NS);
        r = family_collect_exited(&timing->family, timing->session, error);
    }
    if (r == CAMP_OK)
        r = family_collect_rest(&timing->family, timing->session, error);
    timing->facts.real_ns = now_ns(CLOCK_MONOTONIC) - timing->start_ns;
    timing->facts.stolen_ns = counted_since(timing->stolen_ns, stolen_ns());
    return r == CAMP_OK ? family_add_up_process(&timing->family, pid) : r;
}

static int time_process(struct timing *timing)
{
    const int32_t pid = (int32_t)timing->options.pid;
    const struct frame *sums = &timing->family.sums;
    struct camp_error error = { 0 };
    int r, status = open_output(timing);

    if (status != OPTIONS_GO_ON)
        return status;
    r = watch(timing, pid, &error);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    if (sums->entity_count <= 1)
        return complain_of_unseen_process(pid);
    snprintf(timing->command, sizeof timing->command, "process %d (%s)", pid,
             sums->entities[timing->family.order[0]].name);
    timing->facts.command = timing->command;
    timing->facts.as_figure = true;
    status = show(timing);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

static int read_options(struct time_options *options, int argc, char **argv, int *ret_first)
{
    int status;

    *options = (struct time_options){ .table = -1 };
    status = parse(options, argc, argv, ret_first);
    if (status != OPTIONS_GO_ON)
        return status;
    if (options->pid == 0 && *ret_first == argc)
        return complain(STATUS_USAGE, "pass -- COMMAND, or --pid PID; see --help");
    if (options->pid != 0 && *ret_first < argc)
        return complain(STATUS_USAGE, "--pid watches a process, and runs no command");
    if (options->pid == 0 && options->duration_ns != 0)
        return complain(STATUS_USAGE, "--duration goes with --pid");
    return OPTIONS_GO_ON;
}

/* Called before a session is opened: a missing process is reported before a missing capability. */
static int find_process(const struct time_options *options)
{
    const int32_t pid = (int32_t)options->pid;
    struct camp_process process;

    if (pid == 0 || camp_process_identify(NULL, pid, &process, sizeof process, NULL) == CAMP_OK)
        return OPTIONS_GO_ON;
    return complain_of_missing_process(pid);
}

static int complain_of_refusal(const struct timing *timing, int r)
{
    if (r == CAMP_E_PERM && timing->options.pid != 0)
        return complain(STATUS_PRIVILEGE,
                        "%s; camp top --pid %" PRIu64 " shows its CPU time and run queue",
                        timing->refusal.message, timing->options.pid);
    return complain_of(r, &timing->refusal);
}

/* Without microstates, the wall time and CPU time of a command can still be shown, unless an
 * option needs microstates. */
static bool may_show_usage(const struct time_options *options, int result)
{
    return camp_is_refusal(result) && options->pid == 0 && options->table < 0 &&
           !options->no_syscalls && !options->verbose;
}

int command_time(int argc, char **argv)
{
    struct timing timing = { .facts = { .status = -1 }, .file.place.folder = -1 };
    int first, r, status = read_options(&timing.options, argc, argv, &first);

    if (status == OPTIONS_GO_ON)
        status = find_process(&timing.options);
    if (status != OPTIONS_GO_ON)
        return status;
    stop_on_signals();
    r = camp_states_open(&timing.session,
                         (timing.options.no_syscalls ? CAMP_STATES_NO_SYSCALLS : 0) |
                             (timing.options.verbose ? CAMP_STATES_VERBOSE : 0),
                         &timing.refusal);
    if (r != CAMP_OK && !may_show_usage(&timing.options, r))
        return complain_of_refusal(&timing, r);
    family_init(&timing.family, threads_unmeasured(timing.session));
    if (timing.options.pid != 0)
        privilege_give_up(PRIVILEGE_MAPS);
    status = timing.options.pid != 0 ? time_process(&timing) : time_command(&timing, argv + first);
    if (timing.options.output != NULL)
        output_file_discard(&timing.file); /* does nothing if the file is complete */
    camp_states_close(timing.session);
    family_release(&timing.family);
    return status;
}
