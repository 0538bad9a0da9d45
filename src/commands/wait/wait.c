/*
 * camp wait shows I/O wait by five definitions side by side, and which tasks waited for which disk.
 * Without microstates (camp/states.h), it shows only the iowait column of the kernel.
 */
#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"
#include "program/intervals.h"
#include "program/privilege.h"
#include "program/process_selection.h"
#include "views/view.h"
#include "wait_record.h"

#include <string.h>

#define TEXT_ROWS 10
#define TEXT_CPUS 16

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_CLASSIC, FORMAT_MPSTAT, FORMAT_VMSTAT };
static const char *const formats[] = { "text", "json", "csv", "classic", "mpstat", "vmstat", NULL };
static const char *const tiers[] = { "auto", "bpf", "kernel", NULL };

struct wait {
    uint64_t interval_ns, count, top;
    int format, tier, table;
    bool no_syscalls, verbose;
    struct process_selection processes;
    struct selection selection;
    size_t top_cpus;
    struct source *source; /* of threads and CPUs; on tier kernel, of CPUs only */
    struct wait_tasks tasks;
    struct wait_system system;
    uint64_t late_ns; /* time between reading the threads and reading the disks */
    struct wait_record record;
    const struct view *view;
    struct view_options view_options;
};

static int parse(struct wait *wait, int argc, char **argv, int *ret_first)
{
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_INTERVAL, &wait->interval_ns),
        COMMON_OPTION(COMMON_COUNT, &wait->count),
        COMMON_OPTION(COMMON_FORMAT, &wait->format,
                      .help = "text, json (one object a line, camp.wait/1), csv, classic (the "
                              "columns of mpstat of Linux), mpstat or vmstat (those of Solaris).",
                      .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_TOP, &wait->top,
                      .help = "Show at most N tasks, those with the longest waits first; 0: all. "
                              "(Default: 10 in text, all in other formats.)"),
        COMMON_OPTION(COMMON_PID, &wait->processes.texts,
                      .help = "Show only the tasks of this process; repeat the option for more "
                              "processes. CPUs and sums are of all tasks. The command ends when "
                              "all of these processes have ended."),
        COMMON_OPTION(COMMON_TIER, &wait->tier, .type = OPTION_CHOICE,
                      .help = "auto (bpf where it is permitted, otherwise kernel), bpf "
                              "(microstates, with all five definitions; needs CAP_BPF and "
                              "CAP_PERFMON), or kernel (only the kernel's own iowait).",
                      .choices = tiers),
        COMMON_OPTION(COMMON_TABLE, &wait->table,
                      .help = "The table that csv writes: cpus, tasks, machine, system, disks or "
                              "losses.",
                      .choices = wait_table_names),
        COMMON_OPTION(COMMON_NO_SYSCALLS, &wait->no_syscalls),
        COMMON_OPTION(COMMON_VERBOSE, &wait->verbose),
    };
    const struct option_table table = {
        .usage = "camp wait [OPTIONS] [INTERVAL [COUNT]]",
        .about = "What I/O wait is, by five definitions side by side. Of each CPU, in percent of\n"
                 "its time: any (idle while a thread anywhere waits for a disk), any divided by\n"
                 "the number of CPUs, own (idle while a thread that slept on this CPU waits),\n"
                 "kernel (iowait of /proc/stat). Of tasks: how long each waited for which disk,\n"
                 "whether a CPU was idle or not. Without --count it runs until Ctrl-C.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
    };

    return options_parse(&table, argc, argv, ret_first);
}

static int read_options(struct wait *wait, int argc, char **argv)
{
    int first, status;

    *wait = (struct wait){ .interval_ns = NS_PER_S, .top = UINT64_MAX, .table = -1 };
    status = parse(wait, argc, argv, &first);
    if (status != OPTIONS_GO_ON)
        return status;
    if (wait->top == UINT64_MAX)
        wait->top = wait->format == FORMAT_TEXT ? TEXT_ROWS : 0;
    wait->view = view_by_name(formats[wait->format]);
    wait->view_options = view_options_of(stdout);
    wait->view_options.table = wait->table >= 0 ? wait_table_names[wait->table] : NULL;
    wait->selection.most = (size_t)wait->top;
    wait->top_cpus = wait->format == FORMAT_TEXT ? TEXT_CPUS : 0;
    status = selection_processes(&wait->processes);
    wait->selection.pids = wait->processes.pids;
    wait->selection.pid_count = wait->processes.count;
    return status;
}

static int read_disks(struct wait *wait, uint64_t since_ns, struct camp_error *error)
{
    int r = wait_tasks_read(&wait->tasks, threads_source_session(wait->source), error);
    uint64_t late_ns = now_ns(CLOCK_MONOTONIC) - since_ns;

    if (late_ns > wait->late_ns)
        wait->late_ns = late_ns;
    return r;
}

static int open_states(struct wait *wait, struct camp_error *error)
{
    const uint32_t options = CAMP_STATES_DISKS | (wait->no_syscalls ? CAMP_STATES_NO_SYSCALLS : 0) |
                             (wait->verbose ? CAMP_STATES_VERBOSE : 0);
    uint64_t before_ns = now_ns(CLOCK_MONOTONIC);
    int r = threads_source_open(options, &stop_requested, &wait->source, error);

    if (r == CAMP_OK)
        r = read_disks(wait, before_ns, error);
    if (r == CAMP_OK)
        wait_tasks_start(&wait->tasks);
    if (r == CAMP_OK)
        privilege_give_up(PRIVILEGE_MAPS);
    return r;
}

/* If microstates are not available, tier auto prints the reason and uses tier kernel. */
static int open_source(struct wait *wait)
{
    struct camp_error error = { 0 };
    int r = wait->tier == WAIT_KERNEL ? CAMP_E_NOTSUP : open_states(wait, &error);

    if (r == CAMP_OK)
        wait->tier = WAIT_BPF;
    if (r == CAMP_OK || wait->tier == WAIT_BPF || !camp_is_refusal(r))
        return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
    if (wait->tier == WAIT_AUTOMATIC)
        complain(STATUS_OK, "%s; so this is tier kernel: iowait of /proc/stat alone",
                 error.message);
    wait->tier = WAIT_KERNEL;
    r = cpus_source_open(NULL, &stop_requested, &wait->source, &error);
    privilege_give_up(PRIVILEGE_MAPS);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

static int read_states(struct wait *wait, const struct frame *frame, struct wait_interval *interval,
                       struct camp_error *error)
{
    const uint64_t late_before_ns = wait->late_ns;
    int r;

    wait->late_ns = 0;
    r = read_disks(wait, frame->end_ns, error);
    if (r == CAMP_OK)
        r = wait_tasks_fill(&wait->tasks, frame, late_before_ns + wait->late_ns);
    interval->waits = &wait->tasks.rows;
    interval->threads = frame;
    interval->counts_calls = !wait->no_syscalls;
    interval->cpus = threads_source_cpus(wait->source);
    interval->losses.partial += interval->cpus->losses.partial;
    return r;
}

static int show(struct wait *wait, const struct frame *frame, uint64_t number)
{
    struct wait_interval interval = {
        .tier = (enum wait_tier)wait->tier,
        .cpus = frame,
        .system = &wait->system,
        .losses = frame->losses,
        .elapsed_ns = frame->end_ns - frame->start_ns,
    };
    struct camp_error error = { 0 };
    char time[TIME_TEXT_SIZE];
    int r = CAMP_OK;

    time_text(time, sizeof time, (int64_t)now_ns(CLOCK_REALTIME));
    interval.time = time;
    wait_system_read(&wait->system);
    if (wait->tier == WAIT_BPF)
        r = read_states(wait, frame, &interval, &error);
    if (r == CAMP_OK)
        r = wait_record_fill(&wait->record, &interval, &wait->selection, wait->top_cpus);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    return show_document(&wait->record.document, wait->view, &wait->view_options, number);
}

static int run_intervals(struct wait *wait)
{
    struct intervals intervals = { .length_ns = wait->interval_ns, .count = wait->count };
    int status = OPTIONS_GO_ON;

    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct frame *frame;
        int r;

        r = wait->source->next(wait->source, intervals.deadline_ns, &frame, &error);
        status = r == CAMP_OK ? show(wait, frame, intervals.started - 1) : complain_of(r, &error);
        if (selection_all_ended(&wait->processes))
            break;
    }
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}

int command_wait(int argc, char **argv)
{
    struct wait wait;
    int status = read_options(&wait, argc, argv);

    if (status == OPTIONS_GO_ON) {
        stop_on_signals();
        status = open_source(&wait);
    }
    if (status == OPTIONS_GO_ON) {
        wait_system_read(&wait.system);
        status = run_intervals(&wait);
    }
    source_close(wait.source);
    wait_tasks_release(&wait.tasks);
    wait_system_release(&wait.system);
    wait_record_release(&wait.record);
    selection_processes_release(&wait.processes);
    return status;
}
