/*
 * Makes the CPU rows and the machine total of one interval of `camp check`. On tier bpf the
 * measured busy time comes from timestamps at context switches and interrupts. On the other tiers
 * it is the wall time minus the columns idle and iowait of /proc/stat, which some kernels sample
 * (docs/design.md). The sampled busy time is the sum of the busy columns of /proc/stat.
 */
#include "check_record.h"

#include "counters/clock.h"

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

static struct cpu_percents percents_of(const struct check_context *context,
                                       const struct frame *cpus, size_t at, uint64_t whole_ns)
{
    const uint64_t *values = frame_values(cpus, at);
    uint64_t idle_ns = values[CPUS_IDLE] + values[CPUS_IOWAIT];
    uint64_t sampled_ns = 0;

    if (context->is_recorded && context->measured_cpus != NULL)
        return timed_percents_of(cpus, at, whole_ns);
    for (int i = CPUS_USER; i <= CPUS_GUEST_NICE; i++)
        sampled_ns += values[i];
    return (struct cpu_percents){
        .measured =
            context->measured_cpus != NULL
                ? timed_percent(context->measured_cpus, cpus->entities[at].id)
                : percent_of((double)counted_since(idle_ns, cpus->elapsed_ns[at]), whole_ns),
        .sampled = percent_of((double)sampled_ns, whole_ns),
        .idle = percent_of((double)values[CPUS_IDLE], whole_ns),
        .iowait = percent_of((double)values[CPUS_IOWAIT], whole_ns),
        .steal = percent_of((double)values[CPUS_STEAL], whole_ns),
        .sum = percent_of((double)(idle_ns + values[CPUS_STEAL] + sampled_ns), whole_ns),
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

/* `cpus` has the columns of /proc/stat. */
static bool is_idle_sampled(const struct frame *cpus)
{
    return cpus->schema->columns[CPUS_IDLE].provenance == CAMP_SAMPLED;
}

struct check_machine check_machine_of(const struct check_context *context, const struct frame *cpus,
                                      double tasks_percent)
{
    const uint64_t wall_ns = cpus->end_ns - cpus->start_ns;
    const bool timed = context->measured_cpus != NULL;
    const uint64_t unit_ns = timed ? 1 : proc_time_unit_ns();
    struct check_machine machine = { .percents = { NAN, NAN, NAN, NAN, NAN, NAN },
                                     .unaccounted = NAN,
                                     .outside = NAN,
                                     .resolution = percent_of((double)unit_ns, wall_ns),
                                     .timed = timed,
                                     .idle_sampled = !timed && is_idle_sampled(cpus) };

    for (size_t i = 0; i < cpus->entity_count; i++) {
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            continue;
        machine.cpus = wall_ns > 0 ? (size_t)(cpus->elapsed_ns[i] / wall_ns) : 0;
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
