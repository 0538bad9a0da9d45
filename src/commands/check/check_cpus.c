/*
 * The CPUs of one interval of `camp check`, each and all together: busy time by the wall clock
 * (measured) and by the columns (sampled), and the sum of the columns. With timed switches and
 * interrupts (tier bpf) these are the measured busy time; elsewhere it is the wall time minus idle
 * and iowait of the columns.
 */
#include "check_record.h"
#include "ledger/array.h"

#include "counters/units.h"

#include <math.h>
#include <stdlib.h>

static const struct field cpu_fields[] = {
    { "cpu", "cpu", "its id", 7, 0 },
    { "measured_busy_percent", "busy measured %",
      "tier bpf: by timestamps at each switch and interrupt; else 100 - idle - iowait; with what "
      "was stolen of it",
      15, 2 },
    { "sampled_busy_percent", "sampled %", "user + nice + system + irq + softirq + guest", 9, 2 },
    { "idle_percent", "idle %", "", 7, 2 },
    { "iowait_percent", "iowait %", "", 8, 2 },
    { "steal_percent", "steal %", "", 7, 2 },
    { "sum_percent", "sum %", "all columns: 100 where they add up to wall time", 7, 2 },
};

static const struct field machine_fields[] = {
    { "cpus", NULL, "how many: each is 100 %", 0, 0 },
    { "measured_busy_percent", NULL, "of one CPU, all added up", 0, 2 },
    { "sampled_busy_percent", NULL, "", 0, 2 },
    { "idle_percent", NULL, "", 0, 2 },
    { "iowait_percent", NULL, "", 0, 2 },
    { "steal_percent", NULL, "", 0, 2 },
    { "sum_percent", NULL, "100 x cpus where the columns add up to wall time", 0, 2 },
    { "unaccounted_percent", NULL,
      "measured busy that is no process's: interrupts and the like; negative: processes got more",
      0, 2 },
    { "resolution_percent", NULL,
      "one unit of measured busy in this interval: of the system's columns; tier bpf: 1 ns", 0, 2 },
};

/* Busy time from the snapshot that has the processes. NAN: not timed, or no switch on that CPU yet.
 * Of the total in percent of one CPU. */
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

/* For a recording of tier bpf, which has the timed CPUs without columns. */
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

/* In percent of `whole_ns`. */
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

static struct cell *fill_percents(struct cell *cells, const struct cpu_percents *percents,
                                  double expected_sum)
{
    double excess = percents->sum - expected_sum;

    *cells++ = cell_real(percents->measured);
    *cells++ = emphasised(cell_real(percents->sampled),
                          emphasis_of_error(error_percent(percents->measured, percents->sampled),
                                            percents->sampled - percents->measured));
    *cells++ = cell_real(percents->idle);
    *cells++ = cell_real(percents->iowait);
    *cells++ = cell_real(percents->steal);
    *cells++ = emphasised(cell_real(percents->sum), fabs(excess) >= 20  ? BAD
                                                    : fabs(excess) >= 5 ? NOTABLE
                                                                        : PLAIN);
    return cells;
}

/* Selects the worst if not all are shown, then orders them by id. */
static int compare_cpus(const void *left, const void *right, void *frame)
{
    int64_t a = llabs(frame_unaccounted_ns(frame, *(const size_t *)left));
    int64_t b = llabs(frame_unaccounted_ns(frame, *(const size_t *)right));

    return a != b ? (a < b ? 1 : -1) : (*(const size_t *)left < *(const size_t *)right ? -1 : 1);
}

static int compare_indexes(const void *left, const void *right)
{
    return *(const size_t *)left < *(const size_t *)right ? -1 : 1;
}

int check_fill_cpus(struct check_record *check, const struct check_context *context,
                    struct frame *cpus)
{
    size_t top = context->selection.top_cpus;
    size_t rows = 0;

    if (!ARRAY_RESERVE(check->order, check->order_capacity, cpus->entity_count) ||
        !ARRAY_RESERVE(check->cpu_cells, check->cpu_capacity,
                       cpus->entity_count * ARRAY_COUNT(cpu_fields)))
        return CAMP_E_NOMEM;
    for (size_t i = 0; i < cpus->entity_count; i++) {
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            check->order[rows++] = i;
    }
    if (top > 0 && top < rows) {
        qsort_r(check->order, rows, sizeof *check->order, compare_cpus, cpus);
        rows = top;
        qsort(check->order, rows, sizeof *check->order, compare_indexes);
    }
    for (size_t i = 0; i < rows; i++) {
        size_t at = check->order[i];
        struct cpu_percents percents = percents_of(context, cpus, at, cpus->elapsed_ns[at]);
        struct cell *cells = &check->cpu_cells[i * ARRAY_COUNT(cpu_fields)];

        *cells = cell_integer(cpus->entities[at].id);
        fill_percents(cells + 1, &percents, 100);
    }
    check->tables[CHECK_CPUS] = TABLE_OF_ROWS("cpus", cpu_fields, check->cpu_cells, rows);
    return CAMP_OK;
}

struct check_machine check_machine_of(const struct check_context *context, const struct frame *cpus,
                                      double tasks_percent)
{
    const uint64_t wall_ns = cpus->end_ns - cpus->start_ns;
    const bool timed = context->measured_cpus != NULL;
    const uint64_t unit_ns = timed ? 1 : proc_time_unit_ns();
    struct check_machine machine = { .percents = { NAN, NAN, NAN, NAN, NAN, NAN },
                                     .unaccounted = NAN,
                                     .resolution = percent_of((double)unit_ns, wall_ns),
                                     .timed = timed };

    for (size_t i = 0; i < cpus->entity_count; i++) {
        if (cpus->entities[i].id != CAMP_CPU_TOTAL)
            continue;
        machine.cpus = wall_ns > 0 ? (size_t)(cpus->elapsed_ns[i] / wall_ns) : 0;
        machine.percents = percents_of(context, cpus, i, wall_ns);
        machine.unaccounted = machine.percents.measured - tasks_percent;
    }
    return machine;
}

struct cell *check_fill_machine(struct check_record *check, const struct check_machine *machine,
                                struct cell *cells)
{
    struct cell *first = cells;

    *cells++ = cell_natural(machine->cpus);
    cells = fill_percents(cells, &machine->percents, 100.0 * (double)machine->cpus);
    *cells++ = cell_real(machine->unaccounted);
    *cells++ = cell_real(machine->resolution);
    check->tables[CHECK_MACHINE] = TABLE_OF_ONE("machine", TABLE_OBJECT, machine_fields, first);
    return cells;
}
