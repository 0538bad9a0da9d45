/*
 * Makes the CPU rows and the machine total of one interval of `camp check`. On tier bpf the
 * measured busy time comes from timestamps at context switches and interrupts. On the other tiers
 * it is the wall time minus the columns idle and iowait of /proc/stat, which some kernels sample
 * (docs/design.md). On Windows it is the wall time minus the cycles of the idle thread. The sampled
 * busy time is the sum of the busy columns that the kernel samples.
 */
#include "check_record.h"

#include "counters/clock.h"
#include "views/percent.h"

#include <math.h>
#include <stdlib.h>

/* Returns the measured busy time of a CPU, or of CAMP_CPU_TOTAL, in percent of one CPU. Returns NAN
 * if `measured` does not have the CPU, or if the CPU has had no context switch yet. */
static double timed_percent(const struct frame *measured, int64_t cpu)
{
    for (size_t i = 0; i < measured->entity_count; i++) {
        const uint64_t *values = frame_values(measured, i);
        const uint64_t busy_ns = values[CPUS_STATES_USER] + values[CPUS_STATES_SYSTEM] +
                                 values[CPUS_STATES_IRQ] + values[CPUS_STATES_SOFTIRQ];

        if (measured->entities[i].id == cpu && measured->entities[i].count > 0)
            return percent_of((double)busy_ns,
                              measured->elapsed_ns[i] / measured->entities[i].count);
    }
    return NAN;
}

/* A recording of tier bpf has measured times of CPUs, but not the columns of /proc/stat. */
static struct cpu_percents timed_percents_of(const struct frame *cpus, size_t at, uint64_t whole_ns)
{
    const uint64_t *values = frame_values(cpus, at);

    return (struct cpu_percents){
        .measured = timed_percent(cpus, cpus->entities[at].id),
        .sampled = NAN,
        .idle = percent_of((double)values[CPUS_STATES_IDLE], whole_ns),
        .iowait = percent_of((double)values[CPUS_STATES_IOWAIT], whole_ns),
        .steal = percent_of((double)values[CPUS_STATES_STEAL], whole_ns),
        .sum = NAN,
    };
}

/* Linux counts all columns, even if it is unknown how it obtains them. */
static bool is_counted(const struct check_context *context, const struct frame *cpus,
                       enum cpus_column column)
{
    return !tasks_tiers[context->tier].lacks_cpu_columns ||
           cpus->schema->columns[column].provenance != CAMP_UNKNOWN;
}

static double column_percent(const struct check_context *context, const struct frame *cpus,
                             size_t at, enum cpus_column column, uint64_t whole_ns)
{
    return is_counted(context, cpus, column)
               ? percent_of((double)frame_values(cpus, at)[column], whole_ns)
               : NAN;
}

/* Sampled idle time is no measure of busy time where the kernel has a measured one, too. */
static bool is_idle_measured(const struct check_context *context, const struct frame *cpus)
{
    return !tasks_tiers[context->tier].lacks_cpu_columns ||
           cpus->schema->columns[CPUS_IDLE].provenance == CAMP_MEASURED;
}

static struct cpu_percents percents_of(const struct check_context *context,
                                       const struct frame *cpus, size_t at, uint64_t whole_ns)
{
    const uint64_t *values = frame_values(cpus, at);
    const double known = is_counted(context, cpus, CPUS_USER) ? 0 : NAN;
    uint64_t idle_ns = values[CPUS_IDLE] + values[CPUS_IOWAIT];
    uint64_t sampled_ns = 0;
    double measured = NAN;

    if (context->is_recorded && context->measured_cpus != NULL)
        return timed_percents_of(cpus, at, whole_ns);
    for (int i = CPUS_USER; i <= CPUS_GUEST_NICE; i++)
        sampled_ns += values[i];
    if (context->measured_cpus != NULL)
        measured = timed_percent(context->measured_cpus, cpus->entities[at].id);
    else if (is_idle_measured(context, cpus))
        measured = percent_of((double)counted_since(idle_ns, cpus->elapsed_ns[at]), whole_ns);
    return (struct cpu_percents){
        .measured = measured,
        .sampled = known + percent_of((double)sampled_ns, whole_ns),
        .idle = column_percent(context, cpus, at, CPUS_IDLE, whole_ns),
        .iowait = column_percent(context, cpus, at, CPUS_IOWAIT, whole_ns),
        .steal = column_percent(context, cpus, at, CPUS_STEAL, whole_ns),
        .sum = known + percent_of((double)(idle_ns + values[CPUS_STEAL] + sampled_ns), whole_ns),
    };
}

enum { PERCENT_CELLS = 6 };

static void fill_percents(struct cell ret[PERCENT_CELLS], const struct cpu_percents *percents,
                          double expected_sum)
{
    const double excess = fabs(percents->sum - expected_sum);
    const double error = error_percent(percents->measured, percents->sampled);

    ret[0] = cell_real(percents->measured);
    ret[1] = emphasised(cell_real(percents->sampled),
                        emphasis_of_error(error, percents->sampled - percents->measured));
    ret[2] = cell_real(percents->idle);
    ret[3] = cell_real(percents->iowait);
    ret[4] = cell_real(percents->steal);
    ret[5] = emphasised(cell_real(percents->sum), excess >= 20  ? BAD
                                                  : excess >= 5 ? NOTABLE
                                                                : PLAIN);
}

void check_add_cpus(struct check_record *check, const struct check_context *context,
                    const struct frame *cpus)
{
    size_t rows = 0;

    for (size_t i = 0; i < cpus->entity_count; i++) {
        check->keys[i] = frame_unaccounted_size_ns(cpus, i);
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            check->cpus[rows++] = i;
    }
    rows = rows_with_most(check->cpus, rows, context->top_cpus, check->keys);
    for (size_t i = 0; i < rows; i++) {
        const size_t at = check->cpus[i];
        const struct cpu_percents percents = percents_of(context, cpus, at, cpus->elapsed_ns[at]);
        struct cell cells[1 + PERCENT_CELLS] = { cell_integer(cpus->entities[at].id) };

        fill_percents(cells + 1, &percents, 100);
        DOCUMENT_ADD(&check->document, CHECK_CPUS, cells);
    }
}

/* Returns whether busy time is the rest of sampled idle time. `cpus` has the columns of /proc/stat.
 */
static bool is_idle_sampled(const struct check_context *context, const struct frame *cpus)
{
    return !tasks_tiers[context->tier].lacks_cpu_columns &&
           cpus->schema->columns[CPUS_IDLE].provenance == CAMP_SAMPLED;
}

/* The smallest step of the measured busy time. */
static uint64_t step_ns(const struct check_context *context, const struct frame *cpus)
{
    if (context->measured_cpus != NULL ||
        (tasks_tiers[context->tier].lacks_cpu_columns && is_idle_measured(context, cpus)))
        return 1;
    return context->cpu_step_ns != 0 ? context->cpu_step_ns : proc_time_unit_ns();
}

struct check_machine check_machine_of(const struct check_context *context, const struct frame *cpus,
                                      double tasks_percent)
{
    const uint64_t wall_ns = cpus->end_ns - cpus->start_ns;
    const bool timed = context->measured_cpus != NULL;
    struct check_machine machine = { .percents = { NAN, NAN, NAN, NAN, NAN, NAN },
                                     .unaccounted = NAN,
                                     .outside = NAN,
                                     .resolution =
                                         percent_of((double)step_ns(context, cpus), wall_ns),
                                     .timed = timed,
                                     .idle_sampled = !timed && is_idle_sampled(context, cpus) };

    for (size_t i = 0; i < cpus->entity_count; i++) {
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            continue;
        /* Rounded, because Windows reads the CPUs of a group a little later than the total. */
        machine.cpus = wall_ns > 0 ? (size_t)((cpus->elapsed_ns[i] + wall_ns / 2) / wall_ns) : 0;
        machine.percents = percents_of(context, cpus, i, wall_ns);
        machine.unaccounted = machine.percents.measured - tasks_percent;
        if (timed && !context->is_recorded && context->measured_cpus->entity_count > 0) {
            const uint64_t *total = frame_values(context->measured_cpus, 0);

            machine.outside = percent_of((double)total[CPUS_STATES_OUTSIDE], wall_ns);
            machine.unaccounted -= machine.outside;
        }
    }
    return machine;
}

void check_add_machine(struct check_record *check, const struct check_machine *machine)
{
    struct cell cells[1 + PERCENT_CELLS + 3] = { cell_natural(machine->cpus) };

    fill_percents(cells + 1, &machine->percents, 100.0 * (double)machine->cpus);
    cells[1 + PERCENT_CELLS] = cell_real(machine->unaccounted);
    cells[1 + PERCENT_CELLS + 1] = cell_real(machine->resolution);
    cells[1 + PERCENT_CELLS + 2] = cell_real(machine->outside);
    DOCUMENT_ADD(&check->document, CHECK_MACHINE, cells);
}
