#include "check_record.h"

#include "ledger/array.h"
#include "sources/machine/pid_namespace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *tier_name(enum tasks_tier tier)
{
    return tier == TASKS_TASKSTATS ? "taskstats" : tier == TASKS_BPF ? "bpf" : "schedstat";
}

const char *tier_lacks(enum tasks_tier tier, bool final_clocks)
{
    if (tier == TASKS_BPF)
        return "what a running task did since the last tick; each context switch costs a little; "
               "measured is the scheduler's clock (cpu_ns), not the time between switches";
    if (tier == TASKS_TASKSTATS)
        return final_clocks
                   ? "what a running task did since the last tick"
                   : "what a running task did since the last tick, and the last part of an exit";
    return "sampled times, and processes that end between snapshots";
}

const char *tier_change(enum tasks_tier tier, bool final_clocks)
{
    if (tier == TASKS_TASKSTATS && !final_clocks)
        return "CAP_BPF and CAP_PERFMON give the last part of an exit: see camp doctor";
    if (tier != TASKS_SCHEDSTAT)
        return NULL;
    if (!pid_namespace_is_of_machine())
        return "taskstats gives both, but only outside of this PID namespace";
    return "CAP_NET_ADMIN gives both: run as root, or as camp doctor says";
}

double percent_of(double part_ns, uint64_t whole_ns)
{
    return whole_ns > 0 ? 100 * part_ns / (double)whole_ns : NAN;
}

enum emphasis emphasis_of_error(double error, double points)
{
    if (isnan(error) || fabs(points) < 1 || fabs(error) < 20)
        return PLAIN;
    return fabs(error) >= 50 && fabs(points) >= 5 ? BAD : NOTABLE;
}

static void add_interval(struct check_record *check, const struct check_context *context,
                         const struct frame *tasks)
{
    const struct cell cells[] = {
        cell_text(check->time),
        cell_real((double)(tasks->end_ns - tasks->start_ns) / 1e9),
        cell_text(tier_name(context->tier)),
        cell_text(tier_lacks(context->tier, context->final_clocks)),
        cell_text(tier_change(context->tier, context->final_clocks || context->is_recorded)),
        context->is_recorded ? cell_unknown() : cell_boolean(context->hidden),
        cell_text(context->accounting),
    };

    DOCUMENT_ADD(&check->document, CHECK_INTERVAL, cells);
}

static void add_total(struct check_record *check, const struct check_context *context,
                      uint64_t elapsed_ns)
{
    const struct check_summary *summary = &check->summary;
    const struct accuracy *accuracy = &summary->accuracy;
    const bool all = check_selects_all(&context->selection);
    const double sampled = context->tier != TASKS_SCHEDSTAT ? 0 : NAN;
    const struct cell cells[] = {
        all && context->is_recorded ? cell_unknown()
        : all                       ? cell_natural(context->living + summary->ended)
                                    : cell_natural(summary->processes),
        cell_natural(accuracy->active),
        cell_natural(summary->new),
        cell_natural(summary->ended),
        cell_real(percent_of(accuracy->measured, elapsed_ns)),
        cell_real(sampled + percent_of(accuracy->sampled, elapsed_ns)),
        cell_real(sampled + error_percent(accuracy->measured, accuracy->sampled)),
        cell_real(sampled + absolute_error_percent(accuracy)),
        cell_real(sampled + maximum_error_percent(accuracy)),
        cell_real(sampled + percent_of(accuracy->stray, elapsed_ns)),
    };

    DOCUMENT_ADD(&check->document, CHECK_TOTAL, cells);
}

static void add_losses(struct document *document, const struct losses *losses, uint64_t elapsed_ns)
{
    const struct cell cells[] = {
        cell_natural(losses->unseen),
        cell_natural(losses->lost),
        cell_natural(losses->partial),
        cell_real(percent_of((double)losses->unread_ns, elapsed_ns)),
    };

    DOCUMENT_ADD(document, CHECK_LOSSES, cells);
}

static const char *headline(struct check_record *check, const struct check_context *context,
                            double interval_s)
{
    const struct cell *total = check->document.tables[CHECK_TOTAL].cells;
    const bool is_known = total[0].kind != CELL_UNKNOWN;

    return document_text(
        &check->document,
        "%.8s  %.2f s  tier %s  %" PRIu64 " processes%s, %" PRIu64 " new, %" PRIu64 " ended",
        time_of_day(check->time), interval_s, tier_name(context->tier), total[!is_known].natural,
        is_known ? "" : " ran", total[2].natural, total[3].natural);
}

static void note_hidden_rows(struct check_record *check, size_t cpu_rows)
{
    const struct table *tables = check->document.tables;
    const size_t rows = check->summary.rows, shown = tables[CHECK_PROCESSES].row_count;
    const size_t cpus_shown = tables[CHECK_CPUS].row_count;

    if (shown < rows)
        document_note(&check->document, "not shown  %zu processes (--top 0 shows all)",
                      rows - shown);
    if (cpus_shown < cpu_rows)
        document_note(&check->document, "not shown  %zu CPUs whose columns are nearer to wall time",
                      cpu_rows - cpus_shown);
}

static void note_processes(struct document *document, enum tasks_tier tier,
                           const struct accuracy *accuracy, uint64_t elapsed_ns)
{
    const double measured = percent_of(accuracy->measured, elapsed_ns);

    if (tier == TASKS_SCHEDSTAT || accuracy->active == 0) {
        document_note(document, "processes  measured %.2f %%", measured);
        return;
    }
    document_note(document, "processes  measured %.2f %%, sampled %.2f %%", measured,
                  percent_of(accuracy->sampled, elapsed_ns));
    document_note(document, "           error %+.2f %%, absolute %.2f %%, maximum %.2f %%",
                  error_percent(accuracy->measured, accuracy->sampled),
                  absolute_error_percent(accuracy), maximum_error_percent(accuracy));
}

static void note_machine(struct document *document, const struct check_machine *machine)
{
    if (isnan(machine->percents.sampled))
        document_note(document, "%zu CPUs     busy measured %.2f %%", machine->cpus,
                      machine->percents.measured);
    else
        document_note(document,
                      "%zu CPUs     busy measured %.2f %%, sampled %.2f %%, columns' sum %.2f %%",
                      machine->cpus, machine->percents.measured, machine->percents.sampled,
                      machine->percents.sum);
    if (isnan(machine->unaccounted))
        return;
    if (machine->outside > 0)
        document_note(document, "           outside of this PID namespace: %.2f %%",
                      machine->outside);
    if (machine->timed)
        document_note(document,
                      "           charged to no process: %+.2f %% (clocks of running tasks lag)",
                      machine->unaccounted);
    else
        document_note(document, "           charged to no process: %+.2f %% (resolution %.2f %%)",
                      machine->unaccounted, machine->resolution);
}

static void note_losses(struct document *document, const struct losses *losses, uint64_t elapsed_ns)
{
    const double unread_percent = percent_of((double)losses->unread_ns, elapsed_ns);

    if (unread_percent >= 0.1)
        document_note(document,
                      "           ended processes ran at most %.2f %% more since their last tick",
                      unread_percent);
    if (losses->unseen > 0)
        document_note(document, "lost       %" PRIu64 " tasks at most came and went unseen",
                      losses->unseen);
    if (losses->partial > 0)
        document_note(document, "lost       the last interval of %" PRIu64 " processes or CPUs",
                      losses->partial);
    if (losses->lost > 0)
        document_note(document, "lost       the exit records of %" PRIu64 " tasks", losses->lost);
}

/* The CPU time of an exited process since its last tick is unknown. For all exited processes
 * together it is at most the time of all CPUs minus the measured times. */
static uint64_t bounded_unread_ns(uint64_t unread_ns, const struct frame *tasks, size_t cpus)
{
    uint64_t left_ns = cpus * (tasks->end_ns - tasks->start_ns);

    if (cpus == 0)
        return unread_ns;
    for (size_t i = 0; i < tasks->entity_count; i++)
        left_ns = counted_since(frame_values(tasks, i)[TASKS_MEASURED], left_ns);
    return unread_ns < left_ns ? unread_ns : left_ns;
}

int check_record_fill(struct check_record *check, const struct check_context *context,
                      const struct frame *tasks, const struct frame *cpus, const char *time)
{
    const uint64_t elapsed_ns = tasks->end_ns - tasks->start_ns;
    struct document *document = &check->document;
    struct losses losses = tasks->losses;
    struct check_machine machine;
    int r;

    if (!ARRAYS_RESERVE(check->capacity, cpus->entity_count + 1, ARRAY(check->cpus),
                        ARRAY(check->keys)))
        return CAMP_E_NOMEM;
    document_start(document, &check_layout);
    check->time = document_text(document, "%s", time);
    r = check_add_processes(check, context, tasks);
    if (r != CAMP_OK)
        return r;
    check_add_cpus(check, context, cpus);
    machine = check_machine_of(context, cpus,
                               check_selects_all(&context->selection)
                                   ? percent_of(check->summary.accuracy.measured, elapsed_ns)
                                   : NAN);
    check_add_machine(check, &machine);
    losses.partial += cpus->losses.partial;
    losses.unread_ns = bounded_unread_ns(losses.unread_ns, tasks, machine.cpus);
    add_interval(check, context, tasks);
    add_total(check, context, elapsed_ns);
    add_losses(document, &losses, elapsed_ns);
    if (context->selection.filter != NULL && check->summary.rows == 0)
        document_note(document, "--filter   matches no process that ran in this interval");
    note_hidden_rows(check, machine.cpus);
    note_processes(document, context->tier, &check->summary.accuracy, elapsed_ns);
    note_machine(document, &machine);
    note_losses(document, &losses, elapsed_ns);
    if (document_finish(document) == CAMP_OK)
        document->record.headline = headline(check, context, (double)elapsed_ns / 1e9);
    return document_finish(document);
}

void check_record_release(struct check_record *check)
{
    document_release(&check->document);
    selected_release(&check->selected);
    free(check->cpus);
    free(check->keys);
    *check = (struct check_record){ 0 };
}
