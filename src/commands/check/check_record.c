#include "check_record.h"

#include "ledger/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct field interval_fields[] = {
    { "time", "time", "end of the interval, RFC 3339", 0, 0 },
    { "interval_s", "interval", "its real length", 0, 3 },
    { "tier", "tier", "how processes were read: bpf, taskstats or schedstat", 0, 0 },
    { "tier_lacks", "lacks", "what this tier cannot see", 0, 0 },
    { "tier_change", "change", "what would give a better tier; null: nothing", 0, 0 },
    { "hidden", "hidden", "true: other users' processes cannot be seen (hidepid)", 0, 0 },
    { "accounting", "accounting", "how this kernel gets user and system time", 0, 0 },
};

static const struct field total_fields[] = {
    { "processes", NULL, "living at the end, and ended; with a selection: those in rows", 0, 0 },
    { "active", NULL, "measured to run: those that the errors are of", 0, 0 },
    { "new", NULL, "", 0, 0 },
    { "ended", NULL, "", 0, 0 },
    { "measured_percent", NULL, "sum over the processes", 0, 3 },
    { "sampled_percent", NULL, "sum over those measured to run", 0, 3 },
    { "error_percent", NULL, "(sampled - measured) / measured: errors cancel out", 0, 2 },
    { "absolute_error_percent", NULL, "sum of |sampled - measured| / measured", 0, 2 },
    { "maximum_error_percent", NULL, "largest |sampled - measured| / measured of one", 0, 2 },
    { "stray_sampled_percent", NULL, "sampled of processes not measured to run", 0, 3 },
};

static const struct field loss_fields[] = {
    { "unseen", NULL, "tasks that started and exited unseen, at most", 0, 0 },
    { "lost", NULL, "tasks whose exit record the kernel dropped", 0, 0 },
    { "partial", NULL, "processes or CPUs whose last interval is unknown", 0, 0 },
    { "unread_percent", NULL,
      "CPU time at most of ended processes since their last tick; giving back their memory comes "
      "after their record: it is in unaccounted_percent",
      0, 2 },
};

const char *const check_table_names[] = { "processes", "cpus", "machine", "total", "losses", NULL };

const char *tier_name(enum tasks_tier tier)
{
    return tier == TASKS_TASKSTATS ? "taskstats" : tier == TASKS_BPF ? "bpf" : "schedstat";
}

const char *tier_lacks(enum tasks_tier tier)
{
    if (tier == TASKS_BPF)
        return "what a running task did since the last tick; each context switch costs a little";
    if (tier == TASKS_TASKSTATS)
        return "what a running task did since the last tick, and the last part of an exit";
    return "sampled times, and processes that end between snapshots";
}

const char *tier_change(enum tasks_tier tier)
{
    if (tier != TASKS_SCHEDSTAT)
        return NULL;
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

/* Returns where the cells of the next small table start. */
static struct cell *fill_interval(struct check_record *check, const struct check_context *context,
                                  const struct frame *tasks, struct cell *cells)
{
    struct cell *first = cells;

    *cells++ = cell_text(check->time);
    *cells++ = cell_real((double)(tasks->end_ns - tasks->start_ns) / 1e9);
    *cells++ = cell_text(tier_name(context->tier));
    *cells++ = cell_text(tier_lacks(context->tier));
    *cells++ = cell_text(tier_change(context->tier));
    *cells++ = context->is_recorded ? cell_unknown() : cell_boolean(context->hidden);
    *cells++ = cell_text(context->accounting);
    check->tables[CHECK_INTERVAL] = TABLE_OF_ONE("interval", TABLE_INLINE, interval_fields, first);
    return cells;
}

static struct cell *fill_total(struct check_record *check, const struct check_context *context,
                               const struct check_summary *summary, uint64_t elapsed_ns,
                               struct cell *cells)
{
    const struct accuracy *accuracy = &summary->accuracy;
    bool all = check_selects_all(&context->selection);
    bool sampled = context->tier != TASKS_SCHEDSTAT;
    struct cell *first = cells;

    *cells++ = all && context->is_recorded ? cell_unknown()
               : all                       ? cell_natural(context->living + summary->ended)
                                           : cell_natural(summary->processes);
    *cells++ = cell_natural(accuracy->active);
    *cells++ = cell_natural(summary->new);
    *cells++ = cell_natural(summary->ended);
    *cells++ = cell_real(percent_of(accuracy->measured, elapsed_ns));
    *cells++ = cell_real(sampled ? percent_of(accuracy->sampled, elapsed_ns) : NAN);
    *cells++ = cell_real(sampled ? error_percent(accuracy->measured, accuracy->sampled) : NAN);
    *cells++ = cell_real(sampled ? absolute_error_percent(accuracy) : NAN);
    *cells++ = cell_real(sampled ? maximum_error_percent(accuracy) : NAN);
    *cells++ = cell_real(sampled ? percent_of(accuracy->stray, elapsed_ns) : NAN);
    check->tables[CHECK_TOTAL] = TABLE_OF_ONE("total", TABLE_OBJECT, total_fields, first);
    return cells;
}

static void fill_losses(struct check_record *check, const struct losses *losses,
                        uint64_t elapsed_ns, struct cell *cells)
{
    struct cell *first = cells;

    *cells++ = cell_natural(losses->unseen);
    *cells++ = cell_natural(losses->lost);
    *cells++ = cell_natural(losses->partial);
    *cells++ = cell_real(percent_of((double)losses->unread_ns, elapsed_ns));
    check->tables[CHECK_LOSSES] = TABLE_OF_ONE("losses", TABLE_OBJECT, loss_fields, first);
}

static void write_headline(struct check_record *check, const struct check_context *context,
                           double interval_s)
{
    const struct cell *total = check->tables[CHECK_TOTAL].cells;
    const bool is_known = total[0].kind != CELL_UNKNOWN;

    snprintf(check->headline, sizeof check->headline,
             "%.8s  %.2f s  tier %s  %" PRIu64 " processes%s, %" PRIu64 " new, %" PRIu64 " ended",
             check->time + 11, interval_s, tier_name(context->tier), total[!is_known].natural,
             is_known ? "" : " ran", total[2].natural, total[3].natural);
}

/* Adds a line below the tables, if there is space. */
__attribute__((format(printf, 3, 4))) static void note(struct check_record *check, size_t *line,
                                                       const char *format, ...)
{
    va_list arguments;

    if (*line == NOTES_MAXIMUM)
        return;
    va_start(arguments, format);
    vsnprintf(check->lines[*line], sizeof check->lines[0], format, arguments);
    va_end(arguments);
    check->notes[*line] = check->lines[*line];
    check->notes[++*line] = NULL;
}

static void note_no_match(struct check_record *check, size_t *line,
                          const struct check_selection *selection, size_t rows)
{
    if (selection->filter != NULL && rows == 0)
        note(check, line, "--filter   matches no process that ran in this interval");
}

/* Counts rows that the text omits. */
static void note_hidden_rows(struct check_record *check, size_t *line, size_t rows, size_t cpu_rows)
{
    size_t shown = check->tables[CHECK_PROCESSES].row_count;
    size_t cpus_shown = check->tables[CHECK_CPUS].row_count;

    if (shown < rows)
        note(check, line, "not shown  %zu processes (--top 0 shows all)", rows - shown);
    if (cpus_shown < cpu_rows)
        note(check, line, "not shown  %zu CPUs whose columns are nearer to wall time",
             cpu_rows - cpus_shown);
}

static void note_processes(struct check_record *check, size_t *line, enum tasks_tier tier,
                           const struct accuracy *accuracy, uint64_t elapsed_ns)
{
    double measured = percent_of(accuracy->measured, elapsed_ns);

    if (tier == TASKS_SCHEDSTAT || accuracy->active == 0) {
        note(check, line, "processes  measured %.2f %%", measured);
        return;
    }
    note(check, line, "processes  measured %.2f %%, sampled %.2f %%", measured,
         percent_of(accuracy->sampled, elapsed_ns));
    note(check, line, "           error %+.2f %%, absolute %.2f %%, maximum %.2f %%",
         error_percent(accuracy->measured, accuracy->sampled), absolute_error_percent(accuracy),
         maximum_error_percent(accuracy));
}

static void note_machine(struct check_record *check, size_t *line,
                         const struct check_machine *machine)
{
    if (isnan(machine->percents.sampled))
        note(check, line, "%zu CPUs     busy measured %.2f %%", machine->cpus,
             machine->percents.measured);
    else
        note(check, line,
             "%zu CPUs     busy measured %.2f %%, sampled %.2f %%, columns' sum %.2f %%",
             machine->cpus, machine->percents.measured, machine->percents.sampled,
             machine->percents.sum);
    if (isnan(machine->unaccounted))
        return;
    if (machine->timed)
        note(check, line,
             "           charged to no process: %+.2f %% (clocks of running tasks lag)",
             machine->unaccounted);
    else
        note(check, line, "           charged to no process: %+.2f %% (resolution %.2f %%)",
             machine->unaccounted, machine->resolution);
}

static void note_losses(struct check_record *check, size_t *line, const struct losses *losses,
                        uint64_t elapsed_ns)
{
    if (percent_of((double)losses->unread_ns, elapsed_ns) >= 0.1)
        note(check, line,
             "           ended processes ran at most %.2f %% more since their last tick",
             percent_of((double)losses->unread_ns, elapsed_ns));
    if (losses->unseen > 0)
        note(check, line, "lost       %" PRIu64 " tasks at most came and went unseen",
             losses->unseen);
    if (losses->partial > 0)
        note(check, line, "lost       the last interval of %" PRIu64 " processes or CPUs",
             losses->partial);
    if (losses->lost > 0)
        note(check, line, "lost       the exit records of %" PRIu64 " tasks", losses->lost);
}

/* Each exited process may have run up to a tick that was not read; all together at most what the
 * measured times leave of the CPUs. */
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
    uint64_t elapsed_ns = tasks->end_ns - tasks->start_ns;
    struct losses losses = tasks->losses;
    struct frame tasks_copy = *tasks; /* qsort_r takes no const; the arrays are shared */
    struct frame cpus_copy = *cpus;
    struct check_summary summary;
    struct check_machine machine;
    struct cell *cells = check->small;
    size_t line = 0;
    int r = check_summarise(check, context, tasks, &summary);

    if (r == CAMP_OK)
        r = check_fill_processes(check, context, &tasks_copy, summary.rows);
    if (r == CAMP_OK)
        r = check_fill_cpus(check, context, &cpus_copy);
    if (r != CAMP_OK)
        return r;
    losses.partial += cpus->losses.partial;
    snprintf(check->time, sizeof check->time, "%s", time);
    machine = check_machine_of(context, cpus,
                               check_selects_all(&context->selection)
                                   ? percent_of(summary.accuracy.measured, elapsed_ns)
                                   : NAN);
    losses.unread_ns = bounded_unread_ns(losses.unread_ns, tasks, machine.cpus);
    cells = fill_interval(check, context, tasks, cells);
    cells = check_fill_machine(check, &machine, cells);
    cells = fill_total(check, context, &summary, elapsed_ns, cells);
    fill_losses(check, &losses, elapsed_ns, cells);
    write_headline(check, context, (double)elapsed_ns / 1e9);
    note_no_match(check, &line, &context->selection, summary.rows);
    note_hidden_rows(check, &line, summary.rows, machine.cpus);
    note_processes(check, &line, context->tier, &summary.accuracy, elapsed_ns);
    note_machine(check, &line, &machine);
    note_losses(check, &line, &losses, elapsed_ns);
    check->record = (struct record){
        .schema = "camp.check/1",
        .headline = check->headline,
        .tables = check->tables,
        .table_count = CHECK_TABLE_COUNT,
        .main_table = CHECK_PROCESSES,
        .notes = check->notes,
    };
    return CAMP_OK;
}

void check_record_release(struct check_record *check)
{
    free(check->process_cells);
    free(check->cpu_cells);
    free(check->order);
    free(check->remarks);
    *check = (struct check_record){ 0 };
}
