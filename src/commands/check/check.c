/*
 * camp check shows the error of sampled CPU time on this machine, like the program cpuchk of the
 * papers (docs/error.md). For each interval it joins the sources "tasks" and "cpus" into one record
 * for a view.
 */
#include "check_inside.h"
#include "check_sessions.h"
#include "ledger/array.h"
#include "program/command.h"
#include "program/intervals.h"
#include "program/privilege.h"
#include "sources/machine/hidden.h"
#include "sources/machine/pid_namespace.h"

#include <camp/catalogue.h>

#include <inttypes.h>
#include <stdio.h>

static void describe_accounting(struct check *check)
{
    struct camp_kernel kernel = { 0 };

    if (camp_kernel_read(NULL, &kernel, sizeof kernel, NULL) != CAMP_OK)
        return;
    if ((kernel.known & CAMP_KERNEL_ACCOUNTING) != 0)
        check->context.accounting = camp_accounting_name(kernel.accounting);
    if (check->options.format != CHECK_TEXT)
        return;
    if (kernel.accounting == CAMP_ACCOUNTING_NATIVE)
        printf("This kernel measures user and system time itself: both columns are measured.\n");
    if (kernel.accounting == CAMP_ACCOUNTING_GEN && kernel.measured_cpus[0] != '\0')
        printf("This kernel measures user and system time on CPUs %s, and samples on the others.\n",
               kernel.measured_cpus);
}

/* On Windows a tier may lack the measured times, without which nothing can be compared. */
static bool is_unmeasured(const struct check *check)
{
    return check->tasks != NULL && !tasks_tiers[check->context.tier].is_measured;
}

static void describe_tier(const struct check *check)
{
    char hidden[HIDDEN_NOTE_SIZE];

    if (check->options.format == CHECK_TEXT && check->context.hidden) {
        hidden_note(hidden);
        printf("%s%s", hidden, hidden[0] != '\0' ? ".\n" : "");
    }
    if (is_unmeasured(check))
        complain(STATUS_PARTIAL, "tier %s lacks %s", tier_name(check->context.tier),
                 tier_lacks(check->context.tier, false));
    if (check->options.format == CHECK_TEXT && check->context.tier == TASKS_SCHEDSTAT)
        printf("Tier schedstat lacks %s.\n%s.\n", tier_lacks(TASKS_SCHEDSTAT, false),
               tier_change(TASKS_SCHEDSTAT, false));
}

static int open_sources(struct check *check)
{
    struct camp_error error = { 0 };
    struct camp_cpu total;
    int r;

    if (check->options.from.from.text != NULL) {
        check->options.from.sandbox.output = check->options.report;
        r = check_recorded_open(&check->recorded, &check->options.from, &check->context);
        if (r == OPTIONS_GO_ON)
            check_report_name_source(&check->report, check->recorded.facts.name);
        return r;
    }
    r = tasks_source_open((enum tasks_tier)check->options.tier, &stop_requested, &check->tasks,
                          &check->context.tier, &error);

    if (r == CAMP_OK)
        check->context.final_clocks = tasks_source_has_final_clocks(check->tasks);
    if (r == CAMP_OK)
        tasks_source_keep(check->tasks, check->options.processes.pids,
                          check->context.selection.pid_count);
    if (r == CAMP_OK)
        r = cpus_source_open(NULL, &stop_requested, &check->cpus, &error);
    if (r == CAMP_OK && camp_cpu_read(NULL, CAMP_CPU_TOTAL, &total, sizeof total, NULL) == CAMP_OK)
        check->context.cpu_step_ns = total.resolution_ns;
    privilege_give_up(privilege_use_of(tier_name(check->context.tier)));
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

static int show(struct check *check, const struct frame *tasks, const struct frame *cpus,
                uint64_t number)
{
    char time[TIME_TEXT_SIZE];

    time_text(time, sizeof time, tasks->wall_clock_ns);
    check->lost |= tasks->losses.lost > 0;
    if ((check->options.report != NULL &&
         check_report_add(&check->report, &check->context, tasks, cpus, time) != CAMP_OK) ||
        check_record_fill(&check->record, &check->context, tasks, cpus, time) != CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    return show_document(&check->record.document, check->view, &check->view_options, number);
}

static int next_of_machine(struct check *check, uint64_t deadline_ns,
                           const struct frame **ret_tasks, const struct frame **ret_cpus,
                           struct camp_error *error)
{
    int r = check->tasks->next(check->tasks, deadline_ns, ret_tasks, error);

    if (r == CAMP_OK)
        r = check->cpus->next(check->cpus, 0, ret_cpus, error);
    check->context.living = tasks_source_living(check->tasks);
    check->context.unmeasured = tasks_source_unmeasured(check->tasks);
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
        selection_see(&check->options.processes, (*ret_tasks)->entities[i].id);
    return r;
}

static int finish_recorded(const struct check *check, uint64_t intervals)
{
    if (intervals == 0)
        return complain(STATUS_FAILURE, "%s has no interval in that time: nothing to show",
                        check->recorded.facts.name);
    return selection_complain_of_missing(&check->options.processes, check->recorded.facts.name);
}

static int run_intervals(struct check *check)
{
    struct intervals intervals = { .length_ns = check->options.interval_ns,
                                   .count = check->options.count };
    int status = OPTIONS_GO_ON;

    while (status == OPTIONS_GO_ON && next_interval(&intervals)) {
        struct camp_error error = { 0 };
        const struct frame *tasks;
        const struct frame *cpus;
        int r;

        r = check->tasks != NULL
                ? next_of_machine(check, intervals.deadline_ns, &tasks, &cpus, &error)
                : next_recorded(check, &tasks, &cpus, &error);
        if (r == SOURCE_END) {
            status = finish_recorded(check, intervals.started - 1);
            break;
        }
        status =
            r == CAMP_OK ? show(check, tasks, cpus, intervals.started - 1) : complain_of(r, &error);
        if (check->tasks != NULL && selection_all_ended(&check->options.processes))
            break;
    }
    if (status != OPTIONS_GO_ON)
        return status;
    return check->lost || is_unmeasured(check) ? STATUS_PARTIAL : STATUS_OK;
}

/* The exit status of a failed run takes precedence over that of a failed report. */
static int finish_report(struct check *check, int status)
{
    int written = check->options.report != NULL ? check_report_write(&check->report) : STATUS_OK;

    return status == STATUS_OK || status == STATUS_PARTIAL
               ? (written != STATUS_OK ? written : status)
               : status;
}

static int refuse_options_of_processes(const struct check_options *options)
{
    const struct given_option all[] = {
        { "pid", options->processes.texts.count > 0 },
        { "filter", options->filter != NULL },
        { "columns", options->columns != NULL },
        { "table", options->table >= 0 },
        { "no-kernel-threads", !options->kernel_threads },
        { "format classic", options->format == CHECK_CLASSIC },
        { "report", options->report != NULL },
    };
    const char *option;

    option = option_first_given(all, ARRAY_COUNT(all));
    if (option == NULL)
        return OPTIONS_GO_ON;
    return complain(STATUS_USAGE, "--%s is of processes: it does not go with database sessions",
                    option);
}

static int run_sessions(struct check *check)
{
    const int status = refuse_options_of_processes(&check->options);

    return status == OPTIONS_GO_ON ? check_sessions_run(check) : status;
}

static int run_processes(struct check *check)
{
    if (check->tasks != NULL) {
        check->context.hidden = hidden_processes();
        check->context.in_namespace = !pid_namespace_is_of_machine();
        describe_accounting(check);
    }
    describe_tier(check);
    return finish_report(check, run_intervals(check));
}

int command_check(int argc, char **argv)
{
    struct check check = { 0 };
    int status = check_options_read(&check, argc, argv);

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
