#include "check_record.h"

#include "ledger/array.h"
#include "ledger/words.h"
#include "sources/machine/pid_namespace.h"
#include "views/percent.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 80 /* characters of a line of the sentence */

const char *tier_name(enum tasks_tier tier)
{
    return tasks_tiers[tier].name;
}

const char *tier_lacks(enum tasks_tier tier, bool final_clocks)
{
    return tier == TASKS_TASKSTATS && final_clocks ? "what a running task did since the last tick"
                                                   : tasks_tiers[tier].lacks;
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
    const double measured = check_is_measured(check, context) ? 0 : NAN;
    const double sampled = check_is_sampled(check, context) ? 0 : NAN;
    const struct cell cells[] = {
        all && context->is_recorded ? cell_unknown()
        : all                       ? cell_natural(context->living + summary->ended)
                                    : cell_natural(summary->processes),
        isnan(measured) ? cell_unknown() : cell_natural(accuracy->active),
        cell_natural(summary->new),
        cell_natural(summary->ended),
        cell_real(measured + percent_of(accuracy->measured, elapsed_ns)),
        cell_real(measured + sampled + percent_of(accuracy->sampled, elapsed_ns)),
        cell_real(sampled + error_percent(accuracy->measured, accuracy->sampled)),
        cell_real(sampled + absolute_error_percent(accuracy)),
        cell_real(sampled + maximum_error_percent(accuracy)),
        cell_real(sampled + percent_of(accuracy->stray, elapsed_ns)),
    };

    DOCUMENT_ADD(&check->document, CHECK_TOTAL, cells);
}

static void add_losses(struct document *document, const struct check_context *context,
                       const struct losses *losses, uint64_t elapsed_ns)
{
    const struct cell cells[] = {
        tasks_tiers[context->tier].counts_unseen ? cell_natural(losses->unseen) : cell_unknown(),
        cell_natural(losses->lost),
        cell_natural(losses->partial),
        cell_real(percent_of((double)losses->unread_ns, elapsed_ns)),
    };

    DOCUMENT_ADD(document, CHECK_LOSSES, cells);
}

/* Returns whether losses may concern the selected processes. If all processes of --pid were read,
 * all losses except dropped exit records concern other processes. */
static bool is_of_selection(const struct check_record *check, const struct check_context *context)
{
    return context->selection.pid_count == 0 || check->summary.ended > 0 ||
           check->summary.rows < context->selection.pid_count;
}

/* The processes have no states. So the sentence has their CPU time, or that of the CPUs if all
 * processes are selected, and the losses. Without measured times it says that. */
static int add_summary(struct check_record *check, const struct check_context *context,
                       const struct check_machine *machine, const struct losses *losses)
{
    const struct selected *selected = &check->selected;
    const bool is_known =
        check_selects_all(&context->selection) && !isnan(machine->percents.measured);
    const bool is_measured = is_known || check_is_measured(check, context);
    struct summary summary;
    const int r = summary_fill_cpu_time(&summary, selected->rows, selected->order, selected->count,
                                        TASKS_MEASURED);

    if (r != CAMP_OK)
        return r;
    summary.unseen_are_unknown = !tasks_tiers[context->tier].counts_unseen;
    summary.losses.lost = losses->lost;
    if (is_of_selection(check, context))
        summary.losses = *losses;
    if (is_known) {
        summary.cpus.count = machine->cpus;
        summary.active = summary.classes[CLASS_CPU] = machine->percents.measured / 100;
    }
    if (is_measured)
        summary_text(&summary, check->sentence);
    else
        snprintf(check->sentence, sizeof check->sentence, "No CPU time is measured.");
    DOCUMENT_ADD(&check->document, CHECK_SUMMARY,
                 ((const struct cell[]){
                     cell_text(document_text(&check->document, "%s", check->sentence)),
                     summary.cpus.count > 0 ? cell_natural(summary.cpus.count) : cell_unknown(),
                     cell_real(is_measured ? summary.classes[CLASS_CPU] : NAN) }));
    summary_wrap(check->sentence, WIDTH);
    return CAMP_OK;
}

static const char *headline(struct check_record *check, const struct check_context *context,
                            double interval_s)
{
    const struct cell *total = check->document.tables[CHECK_TOTAL].cells;
    const bool is_known = total[0].kind != CELL_UNKNOWN;
    const uint64_t count = total[!is_known].natural;

    return document_text(&check->document,
                         "%.8s  %.2f s  tier %s  %" PRIu64 " %s%s, %" PRIu64 " new, %" PRIu64
                         " ended\n%s",
                         time_of_day(check->time), interval_s, tier_name(context->tier), count,
                         noun_of(count, "process", "processes"), is_known ? "" : " ran",
                         total[2].natural, total[3].natural, check->sentence);
}

static void note_hidden_rows(struct check_record *check, size_t cpu_rows)
{
    const struct table *tables = check->document.tables;
    const size_t hidden = check->summary.rows - tables[CHECK_PROCESSES].row_count;
    const size_t hidden_cpus = cpu_rows - tables[CHECK_CPUS].row_count;

    if (hidden > 0)
        document_note(&check->document, "not shown  %zu %s (--top 0 shows all)", hidden,
                      noun_of(hidden, "process", "processes"));
    if (tables[CHECK_CPUS].row_count < cpu_rows)
        document_note(&check->document, "not shown  %zu %s whose columns are nearer to wall time",
                      hidden_cpus, noun_of(hidden_cpus, "CPU", "CPUs"));
}

/* In a row of several processes, the time and the sign of the worst one are unknown. */
static void note_worst(struct document *document, const struct check_record *check)
{
    const struct frame *rows = check->selected.rows;
    const double maximum = maximum_error_percent(&check->summary.accuracy);
    const struct entity *worst;
    const uint64_t *values;

    if (check->summary.worst == SIZE_MAX)
        return;
    worst = &rows->entities[check->summary.worst];
    values = frame_values(rows, check->summary.worst);
    if (worst->count > 1)
        document_note(document, "           worst process %.2f %% (one of %" PRIu32 " %s)", maximum,
                      worst->count, worst->name);
    else /* The name of a kernel thread has up to 63 characters. */
        document_note(document,
                      "           worst process %+.2f %% of %.2f ms (%.15s, pid %" PRId64 ")",
                      values[TASKS_SAMPLED] < values[TASKS_MEASURED] ? -maximum : maximum,
                      (double)values[TASKS_MEASURED] / 1e6, worst->name, worst->id);
}

static void note_processes(struct check_record *check, const struct check_context *context,
                           uint64_t elapsed_ns)
{
    const struct accuracy *accuracy = &check->summary.accuracy;
    struct document *document = &check->document;
    const double measured = percent_of(accuracy->measured, elapsed_ns);

    if (!check_is_measured(check, context)) {
        if (check_is_sampled(check, context))
            document_note(document, "processes  sampled %.2f %%, not measured",
                          percent_of(accuracy->stray, elapsed_ns));
        else
            document_note(document, "processes  neither measured nor sampled");
        return;
    }
    if (!check_is_sampled(check, context) || accuracy->active == 0) {
        document_note(document, "processes  measured %.2f %%", measured);
        return;
    }
    document_note(document, "processes  measured %.2f %%, sampled %.2f %%: an error of %+.2f %%",
                  measured, percent_of(accuracy->sampled, elapsed_ns),
                  error_percent(accuracy->measured, accuracy->sampled));
    if (accuracy->active == 1)
        return;
    document_note(document,
                  "           errors of single processes add up to %.2f %% of the measured time",
                  absolute_error_percent(accuracy));
    note_worst(document, check);
}

static void note_unaccounted(struct document *document, const struct check_context *context,
                             const struct check_machine *machine, uint64_t unseen)
{
    if (isnan(machine->unaccounted))
        return;
    if (machine->outside > 0)
        document_note(document, "           outside of this PID namespace: %.2f %%",
                      machine->outside);
    if (machine->timed)
        document_note(document,
                      "           charged to no process: %+.2f %% (clocks of running tasks lag)",
                      machine->unaccounted);
    else if (context->tier == TASKS_CYCLES)
        document_note(document,
                      "           of no measured process: %+.2f %% (with interrupts, and with "
                      "processes that ended unseen)",
                      machine->unaccounted);
    else if (context->tier == TASKS_SCHEDSTAT && (unseen > 0 || context->in_namespace))
        document_note(document,
                      "           of no %s process: %+.2f %% (up to %" PRIu64
                      " ended; resolution %.2f %%)",
                      context->in_namespace ? "shown" : "living", machine->unaccounted, unseen,
                      machine->resolution);
    else
        document_note(document, "           charged to no process: %+.2f %% (resolution %.2f %%)",
                      machine->unaccounted, machine->resolution);
}

static void note_machine(struct document *document, const struct check_context *context,
                         const struct check_machine *machine)
{
    const char *cpus =
        document_text(document, "%zu %s", machine->cpus, noun_of(machine->cpus, "CPU", "CPUs"));

    if (!check_selects_all(&context->selection))
        document_note(document, "CPUs       run all processes, not only the selected ones:");
    if (isnan(machine->percents.measured) && isnan(machine->percents.sampled))
        document_note(document, "%-9s  busy time neither measured nor sampled", cpus);
    else if (isnan(machine->percents.measured))
        document_note(document, "%-9s  busy sampled %.2f %%, not measured", cpus,
                      machine->percents.sampled);
    else if (isnan(machine->percents.sampled))
        document_note(document, "%-9s  busy measured %.2f %%", cpus, machine->percents.measured);
    else
        document_note(document,
                      "%-9s  busy measured %.2f %%, sampled %.2f %%, columns' sum %.2f %%", cpus,
                      machine->percents.measured, machine->percents.sampled, machine->percents.sum);
    if (machine->idle_sampled)
        document_note(document,
                      "           the kernel samples idle time: tier bpf measures busy time");
}

static void note_losses(struct document *document, const struct check_context *context,
                        const struct losses *losses, uint64_t elapsed_ns, bool is_of_selected)
{
    const double unread_percent = percent_of((double)losses->unread_ns, elapsed_ns);
    const uint64_t unmeasured = context->unmeasured;
    const uint64_t partial = counted_since(unmeasured, losses->partial);

    if (unread_percent >= 0.1 && is_of_selected)
        document_note(document,
                      "           ended processes ran at most %.2f %% more since their last tick",
                      unread_percent);
    if (losses->unseen > 0 && is_of_selected)
        document_note(document, "lost       %" PRIu64 " %s at most came and went unseen",
                      losses->unseen, noun_of(losses->unseen, "task", "tasks"));
    if (unmeasured > 0 && is_of_selected)
        document_note(document,
                      "lost       the measured time of %" PRIu64
                      " %s: an administrator may open more",
                      unmeasured, noun_of(unmeasured, "process", "processes"));
    if (partial > 0 && is_of_selected)
        document_note(document, "lost       the last interval of %" PRIu64 " %s", partial,
                      noun_of(partial, "process or CPU", "processes or CPUs"));
    if (losses->lost > 0)
        document_note(document, "lost       the exit records of %" PRIu64 " %s", losses->lost,
                      noun_of(losses->lost, "task", "tasks"));
}

/* Limits unread_ns, the unknown CPU time of exited processes after their last ticks. Together, they
 * used at most the time of all CPUs minus all measured times. */
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
    r = add_summary(check, context, &machine, &losses);
    if (r != CAMP_OK)
        return r;
    add_total(check, context, elapsed_ns);
    add_losses(document, context, &losses, elapsed_ns);
    if (context->selection.filter != NULL && check->summary.rows == 0)
        document_note(document, "--filter   matches no process that ran in this interval");
    note_hidden_rows(check, machine.cpus);
    note_processes(check, context, elapsed_ns);
    note_machine(document, context, &machine);
    note_unaccounted(document, context, &machine, tasks->losses.partial + losses.unseen);
    note_losses(document, context, &losses, elapsed_ns, is_of_selection(check, context));
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
